"""Signatures of jobs: found in logs, kept in files, compared, and shifted against each other."""

from resilver.center.signatures.common import CommonBurst, common_bursts
from resilver.center.signatures.compare import SignaturesCompared, compare_signatures
from resilver.center.signatures.file import Signature, read_signature
from resilver.center.signatures.found import FoundSignature, signature
from resilver.center.signatures.shift import ShiftPlan, shift_signatures
