"""Every fix that a finding names exists, and every fix is named by a finding."""

from gnomon.examination.fixes.table import FIXES
from gnomon.findings import KINDS
from gnomon.findings.remedies import REMEDIES


def test_findings_name_fixes_that_exist_and_fixes_name_no_others():
    assert set(REMEDIES) <= set(KINDS)
    named = {id for ids in REMEDIES.values() for id in ids}
    assert named == set(FIXES)
