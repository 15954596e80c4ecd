"""Fitting models of devices, networks, coding, fill and failures to what was measured."""

from __future__ import annotations

from resilver.calibration.coding import CodingCalibration, CodingRates, calibrate_coding
from resilver.calibration.disk import DiskCalibration, DiskPoint, calibrate_disk
from resilver.calibration.errors import ModelError
from resilver.calibration.failures import FailureCalibration, calibrate_failures
from resilver.calibration.fill import FillCalibration, calibrate_fill
from resilver.calibration.network import NetworkCalibration, NetworkPoint, calibrate_network
