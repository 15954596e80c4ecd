"""File sizes: histograms as text, listings that other tools write, and live directory trees."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
