"""The public names of `resilver.report` and where each is from."""

from .charts import (
    NAMES as NAMES,
    OF_STUDY as OF_STUDY,
    figure as figure,
    write_figures as write_figures,
)
from .headline import KeyFigure as KeyFigure, key_figures as key_figures, summary as summary
from .html import write_html as write_html
