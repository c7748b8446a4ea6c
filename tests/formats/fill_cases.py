"""What tests of filled templates share."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.formats.logbook.fill_values import fill_code


def filled(source: str, language: str = "python", **values: Any) -> str:
    return fill_code(source, language, values)


def refused(source: str, language: str = "python", **values: Any) -> str:
    with pytest.raises(BadInput) as caught:
        fill_code(source, language, values)
    return str(caught.value)


HOSTILE = st.text(st.sampled_from("ab'\"\\{}\n\r\t#;()`$!*/-=%@[] \x00\x0c\u2028\x85é\ud800")) | st.text()
