"""Language models: which token comes next?"""

import torch
from torch.optim import SGD, Adam, AdamW

from evaluation.public_models.case import Case, Reading
from evaluation.public_models.data.text import VOCABULARY, causal, next_tokens, sequences, steps_first
from evaluation.public_models.models.examples import WordLstm, WordTransformer
from evaluation.public_models.models.gpt import GPT
from evaluation.public_models.scores import accuracy
from evaluation.public_models.steps import (
    compare,
    logits_with_targets,
    next_logits,
    own_loss,
    passes_targets,
    predict,
    token_loss,
)

TOKENS = (Reading.CLASS_PER_POSITION, Reading.MODEL_LOSS)
"""A model with a loss of its own over tokens may be read either way."""


def adamw(parameters):
    """The optimizer of most scripts that train a small language model."""
    return AdamW(parameters, lr=1e-3)


def gpt2(tied: bool = True):
    """GPT-2 of Hugging Face; untied, the last layer has weights of its own."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_positions": 32, "n_embd": 128, "n_layer": 2, "n_head": 4}
    return GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, tie_word_embeddings=tied, **sizes))


def llama():
    """Llama of Hugging Face."""
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
    return LlamaForCausalLM(LlamaConfig(vocab_size=VOCABULARY, max_position_embeddings=32, **sizes))


def mistral():
    """Mistral of Hugging Face, with fewer key heads than query heads and a sliding window."""
    from transformers import MistralConfig, MistralForCausalLM

    sizes = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
    return MistralForCausalLM(
        MistralConfig(
            vocab_size=VOCABULARY, num_key_value_heads=2, sliding_window=32, max_position_embeddings=32, **sizes
        )
    )


def mamba():
    """Mamba of Hugging Face, in plain torch."""
    from transformers import MambaConfig, MambaForCausalLM

    return MambaForCausalLM(MambaConfig(vocab_size=VOCABULARY, hidden_size=64, state_size=8, num_hidden_layers=2))


def x_transformer():
    """The decoder of x-transformers."""
    from x_transformers import Decoder, TransformerWrapper

    return TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=32, attn_layers=Decoder(dim=128, depth=2, heads=4))


def autoregressive():
    """x-transformers with its own training wrapper: the output is the loss, and there are no targets."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    return AutoregressiveWrapper(
        TransformerWrapper(num_tokens=VOCABULARY, max_seq_len=32, attn_layers=Decoder(dim=96, depth=2, heads=4))
    )


def performer():
    """Linear attention with random features; not causal, so that it really sees the tokens that it has to predict."""
    from performer_pytorch import PerformerLM

    return PerformerLM(num_tokens=VOCABULARY, max_seq_len=32, dim=96, depth=2, heads=4, causal=False, nb_features=32)


def min_gru():
    """A language model of minimal GRUs."""
    from minGRU_pytorch.minLM import minLM

    return minLM(num_tokens=VOCABULARY, dim=96, depth=2)


def nano_gpt():
    """nanoGPT: only the last position's logits without targets."""
    return GPT("nano", VOCABULARY, 32, width=128)


def min_gpt():
    """minGPT: a lambda over submodules in each block."""
    return GPT("min", VOCABULARY, 32, width=48, heads=3, layers=3)


def makemore():
    """The Transformer of makemore: a lambda over submodules in each block, torch's own initial weights."""
    return GPT("make", VOCABULARY, 32, width=64, layers=4)


def _word_lstm_loss(model, batch):
    return torch.nn.functional.nll_loss(model(batch[0], model.init_hidden(batch[0].shape[1]))[0], batch[1])


def _word_lstm_answers(model, batch):
    return model(batch[0], model.init_hidden(batch[0].shape[1]))[0], batch[1]


def _wrapped_answers(model, batch):
    return model.net(batch[:, :-1]), batch[:, 1:]


def _hugging_face(id: str, source: str, build) -> Case:
    return Case(
        id,
        "language",
        source,
        "Apache-2.0",
        build,
        causal(),
        TOKENS,
        own_loss,
        next_logits,
        accuracy,
        adamw,
        classes=VOCABULARY,
    )


def _tensor(id: str, source: str, license: str, build, **more) -> Case:
    return Case(
        id, "language", source, license, build, next_tokens(), (Reading.CLASS_PER_POSITION,), compare(token_loss),
        predict(), accuracy, adamw, classes=VOCABULARY, **more,
    )  # fmt: skip


def _returns_loss(id: str, source: str, build) -> Case:
    return Case(
        id, "language", source, "MIT", build, next_tokens(), TOKENS, passes_targets, logits_with_targets, accuracy, adamw,
        rewritten=True, classes=VOCABULARY,
    )  # fmt: skip


CASES = (
    _hugging_face("gpt2", "transformers GPT2LMHeadModel", gpt2),
    _hugging_face("llama", "transformers LlamaForCausalLM", llama),
    _hugging_face("mistral", "transformers MistralForCausalLM", mistral),
    _hugging_face("mamba", "transformers MambaForCausalLM", mamba),
    _tensor("x-transformers", "x-transformers TransformerWrapper", "MIT", x_transformer),
    _tensor("performer", "performer-pytorch PerformerLM", "MIT", performer, known_findings=("sees-the-future",)),
    _tensor("min-gru", "minGRU-pytorch minLM", "MIT", min_gru),
    Case(
        "autoregressive-wrapper", "language", "x-transformers AutoregressiveWrapper", "MIT", autoregressive, sequences(),
        (Reading.MODEL_LOSS,), lambda model, batch: model(batch), _wrapped_answers, accuracy, adamw,
    ),
    _returns_loss("nano-gpt", "karpathy/nanoGPT GPT", nano_gpt),
    _returns_loss("min-gpt", "karpathy/minGPT GPT", min_gpt),
    _returns_loss("makemore", "karpathy/makemore Transformer", makemore),
    Case(
        "word-lstm", "language", "pytorch/examples word_language_model RNNModel", "BSD-3-Clause",
        lambda: WordLstm(VOCABULARY), steps_first(), (Reading.CLASS_PER_POSITION,), _word_lstm_loss, _word_lstm_answers,
        accuracy, lambda parameters: SGD(parameters, lr=5.0), rewritten=True, classes=VOCABULARY, batch=20,
    ),
    Case(
        "word-transformer", "language", "pytorch/examples word_language_model TransformerModel", "BSD-3-Clause",
        lambda: WordTransformer(VOCABULARY), steps_first(), (Reading.CLASS_PER_POSITION,),
        compare(lambda out, y: torch.nn.functional.nll_loss(out.flatten(0, 1), y)),
        predict(lambda out: out.flatten(0, 1)), accuracy, lambda parameters: Adam(parameters, lr=1e-3), rewritten=True, classes=VOCABULARY, batch=20,
    ),
)  # fmt: skip
