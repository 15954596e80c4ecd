"""Reports: key figures, charts and one offline page, read from the tables of a study's results.

A report never simulates. A chart is one Vega-Lite specification, which the page, a notebook and
every file draw.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
