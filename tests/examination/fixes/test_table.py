"""Every fix that is named exists, and every fix is named by a finding or tried in the search for a repair."""

from gnomon.examination.fixes.candidates import CONDITIONS, ORDER
from gnomon.examination.fixes.table import FIXES
from gnomon.findings import KINDS
from gnomon.findings.remedies import REMEDIES
from gnomon.findings.repairs import CAUSES


def test_findings_name_fixes_that_exist_and_fixes_name_no_others():
    assert set(REMEDIES) <= set(KINDS)
    named = {id for ids in REMEDIES.values() for id in ids}
    assert named | set(ORDER) == set(FIXES)
    assert set(CONDITIONS) <= set(ORDER) == set(CAUSES) and len(set(ORDER)) == len(ORDER)
