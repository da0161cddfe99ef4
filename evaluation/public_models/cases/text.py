"""Text and speech of Hugging Face: classes, tags, hidden words, answers, translations."""

import torch
from torch.optim import AdamW

from evaluation.public_models.case import Case, Data, Reading
from evaluation.public_models.data.series import spectra, waveforms
from evaluation.public_models.data.text import VOCABULARY, lines, masked, reversals, tags
from evaluation.public_models.scores import accuracy, binary_accuracy
from evaluation.public_models.steps import forced_logits, logits, own_loss

SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
CHARACTERS = 128
"""Tokens of the lines of code: character codes."""


def bert():
    """BERT with a class for each text."""
    from transformers import BertConfig, BertForSequenceClassification

    return BertForSequenceClassification(
        BertConfig(vocab_size=CHARACTERS, max_position_embeddings=64, num_labels=4, **SMALL)
    )


def albert():
    """ALBERT, whose layers share their weights."""
    from transformers import AlbertConfig, AlbertForSequenceClassification

    return AlbertForSequenceClassification(
        AlbertConfig(vocab_size=CHARACTERS, embedding_size=32, max_position_embeddings=64, num_labels=4, **SMALL)
    )


def bert_labels():
    """BERT with several labels for each text."""
    from transformers import BertConfig, BertForSequenceClassification

    options = {"problem_type": "multi_label_classification", "num_labels": 4, **SMALL}
    return BertForSequenceClassification(BertConfig(vocab_size=CHARACTERS, max_position_embeddings=64, **options))


def distilbert():
    """DistilBERT with a class for each token."""
    from transformers import DistilBertConfig, DistilBertForTokenClassification

    sizes = {"dim": 64, "hidden_dim": 128, "n_layers": 2, "n_heads": 4}
    return DistilBertForTokenClassification(
        DistilBertConfig(vocab_size=CHARACTERS, max_position_embeddings=64, num_labels=5, **sizes)
    )


def roberta():
    """RoBERTa that guesses hidden tokens; most labels are -100."""
    from transformers import RobertaConfig, RobertaForMaskedLM

    return RobertaForMaskedLM(
        RobertaConfig(vocab_size=VOCABULARY + 1, max_position_embeddings=40, pad_token_id=0, **SMALL)
    )


def bert_answers():
    """BERT that marks where an answer starts and ends."""
    from transformers import BertConfig, BertForQuestionAnswering

    return BertForQuestionAnswering(BertConfig(vocab_size=CHARACTERS, max_position_embeddings=64, **SMALL))


def t5():
    """T5, an encoder with decoder that computes its loss from ``labels``."""
    from transformers import T5Config, T5ForConditionalGeneration

    sizes = {"d_model": 64, "d_ff": 128, "d_kv": 16, "num_layers": 2, "num_heads": 4}
    return T5ForConditionalGeneration(T5Config(vocab_size=32, decoder_start_token_id=0, **sizes))


def bart():
    """BART, an encoder with decoder."""
    from transformers import BartConfig, BartForConditionalGeneration

    both = {
        f"{part}_{name}": size
        for part in ("encoder", "decoder")
        for name, size in (("layers", 1), ("ffn_dim", 128), ("attention_heads", 4))
    }
    tokens = {
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
        "forced_eos_token_id": 1,
    }
    return BartForConditionalGeneration(
        BartConfig(vocab_size=32, d_model=64, max_position_embeddings=32, **both, **tokens)
    )


def whisper():
    """Whisper on spectra of tones."""
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    both = {
        f"{part}_{name}": size
        for part in ("encoder", "decoder")
        for name, size in (("layers", 1), ("ffn_dim", 128), ("attention_heads", 4))
    }
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    return WhisperForConditionalGeneration(
        WhisperConfig(vocab_size=16, d_model=64, num_mel_bins=16, max_source_positions=32, max_target_positions=16, **both, **tokens,
                      suppress_tokens=None, begin_suppress_tokens=None)
    )  # fmt: skip


def wav2vec():
    """Wav2Vec2 with the CTC loss on waveforms."""
    from transformers import Wav2Vec2Config, Wav2Vec2ForCTC

    sizes = {
        "conv_dim": (32, 32, 32),
        "conv_stride": (5, 2, 2),
        "conv_kernel": (10, 3, 3),
        "num_feat_extract_layers": 3,
    }
    return Wav2Vec2ForCTC(
        Wav2Vec2Config(
            vocab_size=6, pad_token_id=0, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, ctc_loss_reduction="mean",
            mask_time_prob=0.0, layerdrop=0.0, **sizes, **SMALL,
        )
    )  # fmt: skip


def spans(seed: int) -> Data:
    """Lines of code; the answer is the longest word, by its first and last character."""
    plain = lines()(seed)
    parts = []
    for part in (plain.train, plain.test):
        found = []
        for row in part["input_ids"].tolist():
            text = "".join(map(chr, row)).rstrip("\0")
            word = max(text.split(), key=len, default="")
            start = text.find(word)
            found.append((start, start + max(len(word), 1) - 1))
        both = torch.tensor(found)
        inputs = {name: part[name] for name in ("input_ids", "attention_mask")}
        parts.append({**inputs, "start_positions": both[:, 0], "end_positions": both[:, 1]})
    return Data(*parts)


def _span_answers(model, batch):
    out = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])
    both = torch.stack((batch["start_positions"], batch["end_positions"]), 1)
    return torch.stack((out.start_logits, out.end_logits), 1), both


def _ctc_answers(model, batch):
    """Most likely letters in four equal parts of the time, as logits, and the letters."""
    scores = model(input_values=batch["input_values"]).logits.log_softmax(-1)
    letters = scores[..., 1:]
    parts = torch.stack([part.amax(1) for part in letters.tensor_split(4, dim=1)], 1)
    return parts, batch["labels"] - 1


def _adamw(parameters):
    return AdamW(parameters, lr=1e-3)


def _case(id, kind, name, build, data, readings, answers, score=accuracy, classes=0) -> Case:
    return Case(
        id, kind, f"transformers {name}", "Apache-2.0", build, data, (*readings, Reading.MODEL_LOSS), own_loss, answers,
        score, _adamw, classes=classes,
    )  # fmt: skip


POSITIONS = (Reading.CLASS_PER_POSITION,)

CASES = (
    _case("bert", "text", "BertForSequenceClassification", bert, lines(), (Reading.CLASS,), logits, classes=4),
    _case("albert", "text", "AlbertForSequenceClassification", albert, lines(), (Reading.CLASS,), logits, classes=4),
    _case("bert-labels", "multi-label", "BertForSequenceClassification, several labels", bert_labels, lines(several=True),
          (Reading.LABELS,), logits, binary_accuracy),
    _case("distilbert", "token classes", "DistilBertForTokenClassification", distilbert, tags(), POSITIONS, logits, classes=5),
    _case("roberta", "hidden tokens", "RobertaForMaskedLM", roberta, masked(), POSITIONS, logits, classes=VOCABULARY + 1),
    _case("bert-answers", "answers", "BertForQuestionAnswering", bert_answers, spans, (), _span_answers),
    _case("t5", "translation", "T5ForConditionalGeneration", t5, reversals(), POSITIONS, forced_logits, classes=32),
    _case("bart", "translation", "BartForConditionalGeneration", bart, reversals(), POSITIONS, forced_logits, classes=32),
    _case("whisper", "speech", "WhisperForConditionalGeneration", whisper, spectra, POSITIONS, forced_logits, classes=16),
    _case("wav2vec2", "speech", "Wav2Vec2ForCTC", wav2vec, waveforms, (), _ctc_answers),
)  # fmt: skip
