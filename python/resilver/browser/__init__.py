"""The core in a browser: what a page gives the WebAssembly module, and where that module is."""

from __future__ import annotations

from resilver.browser.module import browser_file, core_module
from resilver.browser.request import CoreRequest, cluster_request, system_request
