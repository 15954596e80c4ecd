"""Readers of what other tools write: Ceph reports, benchmarks, netgauge tables, file sizes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
