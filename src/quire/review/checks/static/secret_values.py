"""Secrets in a notebook: what looks like one by its form, and the values of those that the notebook declares.

Only forms that hardly anything else has are looked for: a check that cries wolf is switched off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ....core.errors import QuireError
from ....core.sheet.sheet import Sheet, SheetCell
from ....kernels.env_file import variables
from ....kernels.requirements import needs_of
from ....outputs.secrets import Remover
from .finding import Finding

_FORMS: Mapping[str, str] = {
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
    "a key of AWS": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})\b",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a token of Slack": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a key of OpenAI or Anthropic": r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}",
    "a token of Hugging Face": r"\bhf_[A-Za-z0-9]{30,}\b",
    "a token of Quire": r"\bquire_[A-Za-z0-9_-]{32,}\b",
    "a signed token (JWT)": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "a password in a URL": r"\b[a-z][a-z0-9+.-]*://[^\s/:@'\"{}<>]+:[^\s/:@'\"{}<>$]{3,}@[\w.-]+",
    "a password": r"(?i)\b(?:password|passwd|secret|api_?key|(?:auth|access)_?token)\b"
    r"\s*[:=]\s*[\"'](?![^\"']*[{}<>*$])[^\"'\s]{8,}[\"']",
}


def secrets_in(sheet: Sheet, folder: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield where something stands that looks like a secret, or is one. The secret itself is never told."""
    forms = {what: re.compile(pattern) for what, pattern in _FORMS.items()}
    remover = Remover(_declared(sheet, folder, environ))
    for cell in sheet.cells:
        for number, line in enumerate(cell.source.split("\n"), 1):
            if what := _looks_like(line, forms) or _is_declared(line, remover):
                yield Finding(
                    check="secrets", message=f"{_sentence(what)} stands in the source.", cell=cell, line=number
                )
        yield from _in_outputs(cell, forms, remover)


def _in_outputs(cell: SheetCell, forms: Mapping[str, re.Pattern[str]], remover: Remover) -> Iterator[Finding]:
    if not cell.outputs:
        return
    text = json.dumps(cell.outputs, ensure_ascii=False).replace('\\"', '"')
    if what := _looks_like(text, forms) or _is_declared(text, remover):
        told = f"{_sentence(what)} stands in the outputs. Clear them, and change the secret."
        yield Finding(check="secrets", message=told, cell=cell)


def _looks_like(text: str, forms: Mapping[str, re.Pattern[str]]) -> str | None:
    return next((what for what, pattern in forms.items() if pattern.search(text)), None)


def _is_declared(text: str, remover: Remover) -> str | None:
    return "the value of a secret that the notebook declares" if remover.clean_text(text) != text else None


def _declared(sheet: Sheet, folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    try:
        needs, found = needs_of(sheet), variables(folder, environ)
    except QuireError:
        return {}  # what cannot be read is told by another check
    return {name: found.env[name] for name in needs.secrets if found.env.get(name)}


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
