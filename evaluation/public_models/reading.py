"""What an examination says that the network learns, compared with what it really learns."""

from dataclasses import dataclass

from evaluation.public_models.case import Case, Reading
from gnomon.examination.record import Examination


@dataclass(frozen=True, slots=True)
class Read:
    """How the network was read: the reading, the number of classes (0 for numbers), and the report's own sentence."""

    reading: Reading
    classes: int
    text: str

    def agrees(self, case: Case) -> bool:
        """Whether this is one of the case's correct readings, with the right number of classes."""
        return self.reading in case.readings and self.classes == case.classes


def read_by(result: Examination, *, own_loss: bool) -> Read:
    """The reading that a report states: classes if it has a largest class, else numbers, or the user's own loss."""
    values = {value.id: value.value for section in result.sections for value in section.content.values}
    text = result.section("architecture").answer
    if own_loss:
        return Read(Reading.OWN_LOSS, 0, text)
    if "largest-class" in values:
        return Read(Reading.CLASS, int(values["outputs"]), text)
    return Read(Reading.NUMBERS, 0, text)
