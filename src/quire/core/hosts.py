"""Names and addresses of machines, as they stand in settings and addresses. Nothing is looked up."""

from __future__ import annotations


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach `host`, whatever a name server says; brackets of IPv6 may be there."""
    from ipaddress import ip_address  # few processes need it

    try:
        return host.lower() == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
