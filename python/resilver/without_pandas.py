"""Commands and workers without pandas, which pyarrow imports wherever it is installed.

The first array that pyarrow makes of a Python object costs half a second of processor for the
import, and no command or worker makes a data frame. A script that uses the library is left alone.
"""

from __future__ import annotations

import sys


class _WithoutPandas:
    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("resilver's commands and workers use no pandas", name=name)


def leave_pandas_out() -> None:
    """Have this process find no pandas, from now on."""
    if _WithoutPandas not in sys.meta_path:
        sys.meta_path.insert(0, _WithoutPandas)
