"""Fitting the models of devices and networks to measurements, and saying how well they fit."""

from __future__ import annotations

from resilver.calibration.disk import DiskCalibration, DiskPoint, calibrate_disk
from resilver.calibration.errors import ModelError
from resilver.calibration.network import NetworkCalibration, NetworkPoint, calibrate_network

__all__ = [
    "DiskCalibration",
    "DiskPoint",
    "ModelError",
    "NetworkCalibration",
    "NetworkPoint",
    "calibrate_disk",
    "calibrate_network",
]
