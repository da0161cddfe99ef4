"""Healthy networks for text and series."""

from functools import partial

from torch import nn

from evaluation.faults.case import Case, healthy
from evaluation.faults.data.mnist import mnist_rows
from evaluation.faults.data.series import heartbeats, phone_sensors, seasonal_windows, tones
from evaluation.faults.data.text import markov_text, reversed_digits, reviews, shop_requests, topic_tokens
from evaluation.faults.models.sequences import (
    AttentionRNN,
    BagOfWords,
    DilatedConvolutions,
    Forecaster,
    LastStepLSTM,
    LSTMLanguageModel,
    MeanLSTM,
    SensorNetwork,
    TanhRNN,
    TokenGRU,
    pretrained_word_vectors,
    tone_cnn,
)
from evaluation.faults.models.transformers import CausalTransformer, MaskedEncoder, PositionLabeler, Transformer
from evaluation.faults.recipes import adam, adamw, next_word_loss, trained, warmup

named_reviews = partial(reviews, named=True)

CASES: tuple[Case, ...] = (
    # text
    healthy("transformer-tokens", "tuning", Transformer, topic_tokens),
    healthy("gru-bidirectional", "held-out", TokenGRU, topic_tokens),
    healthy("bag-of-words", "held-out", BagOfWords, topic_tokens),
    healthy("log-softmax-with-its-own-loss", "held-out", partial(TokenGRU, end=nn.LogSoftmax(1)), topic_tokens, loss=nn.NLLLoss()),
    Case("trained-lstm-over-reviews", "healthy", (), "unseen", partial(trained, MeanLSTM, reviews, 250)),
    healthy("language-model", "unseen", CausalTransformer, markov_text, loss=next_word_loss),
    healthy("language-model-warmup", "unseen", partial(CausalTransformer, tied=False), markov_text, loss=next_word_loss, schedule=warmup,
            optimizer=adamw(1e-3, weight_decay=0.1)),
    healthy("language-model-lstm", "unseen", LSTMLanguageModel, markov_text, loss=next_word_loss),
    healthy("language-model-500-words", "unseen", partial(CausalTransformer, 500), partial(markov_text, vocabulary=500), loss=next_word_loss),
    healthy("encoder-with-mask", "unseen", MaskedEncoder, named_reviews),
    healthy("encoder-with-mask-warmup", "unseen", MaskedEncoder, named_reviews, schedule=warmup, optimizer=adam(5e-4)),
    healthy("lstm-over-reviews", "unseen", MeanLSTM, reviews),
    healthy("shop-requests-lstm-most-words-unused", "outsider", AttentionRNN, shop_requests),
    healthy("shop-requests-gru", "outsider", partial(AttentionRNN, cell=nn.GRU), shop_requests, optimizer=adam(2e-3)),
    healthy("shop-requests-frozen-word-vectors", "outsider", partial(AttentionRNN, vectors=pretrained_word_vectors()), shop_requests),
    healthy("position-labels-tied-fixed-positions", "outsider", PositionLabeler, reversed_digits, loss=nn.CrossEntropyLoss()),
    healthy("position-labels-some-ignored", "outsider", PositionLabeler, partial(reversed_digits, ignore=True),
            loss=nn.CrossEntropyLoss(ignore_index=-100)),
    # series
    healthy("lstm", "tuning", LastStepLSTM, mnist_rows),
    healthy("lstm-other-examples", "tuning", LastStepLSTM, mnist_rows, draw=1),
    healthy("tones-group-norm", "held-out", tone_cnn, tones),
    healthy("forecast-gru", "unseen", Forecaster, seasonal_windows),
    healthy("forecast-lstm-huber", "unseen", partial(Forecaster, nn.LSTM), seasonal_windows, loss=nn.HuberLoss()),
    healthy("heartbeats-dilated-convolutions", "unseen", DilatedConvolutions, heartbeats),
    healthy("sensors-convolutions", "outsider", SensorNetwork, phone_sensors),
    healthy("sensors-convolutions-and-gru", "outsider", partial(SensorNetwork, gru=True), phone_sensors),
    healthy("sensors-plain-recurrence", "outsider", TanhRNN, phone_sensors, optimizer=adam(1e-3)),
)  # fmt: skip
