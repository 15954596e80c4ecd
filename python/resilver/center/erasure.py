"""The code of groups, read where a key or an option names it."""

from __future__ import annotations

from resilver.errors import ConfigError
from resilver.spec.code import ErasureCode, code_of


def erasure_of(text: str, key: str) -> ErasureCode:
    """A code by its numbers.

    Args:
        text: Such as ``rs 8+2``.
        key: What names it, for the message.

    Raises:
        ConfigError: It is no code.
    """
    try:
        code = code_of(text)
    except ConfigError as error:
        raise ConfigError(one.under(key) for one in error.problems) from None
    assert code is not None, "text is a code or raises"
    return code
