"""Converts a module to a pure function of its parameters, which differentiation and linear algebra need.

The module is never written to: it is called with detached parameters and with copies of its buffers,
under the caller's random state, which is put back afterwards, also when an error is raised.

>>> import torch
>>> from gnomon.core.modules.preserve import preserve
>>> net = torch.nn.Linear(3, 2)
>>> with preserve(net, mode=None):
...     f = PureFunction.of(net)
...     y = f(torch.zeros(4, 3))
>>> y.shape, net.weight.grad, list(f.leaves)
(torch.Size([4, 2]), None, ['weight', 'bias'])
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.run import call_with_inputs, wrap_user_errors

__all__ = ["PureFunction", "check_finite_outputs"]


@dataclass(frozen=True, slots=True)
class PureFunction:
    """A module as a pure function f(w, x) of some of its parameters w and its inputs x; the module itself never
    changes.
    """

    module: nn.Module
    leaves: dict[str, Tensor]
    others: dict[str, Tensor]

    @classmethod
    def of(cls, module: nn.Module, parameters: str | Sequence[str] | None = None) -> "PureFunction":
        """Creates a function of a module's trainable parameters, or of parameters whose names match a pattern such as
        "0.*".

        A pattern also takes frozen parameters: it names what to differentiate, not what is being trained.

        >>> list(PureFunction.of(nn.Linear(1, 1), "b*").leaves)
        ['bias']
        """
        named = dict(module.named_parameters())
        patterns = (parameters,) if isinstance(parameters, str) else parameters
        if patterns is not None and not (
            isinstance(patterns, Sequence) and all(isinstance(pattern, str) for pattern in patterns)
        ):
            fix = "Pass a pattern such as '*.weight', or a list of patterns"
            raise InputError(f"parameters is {parameters!r}"[:80], accepted="names of parameters", fix=fix)
        chosen = {
            name: p.detach().requires_grad_()
            for name, p in named.items()
            if (p.requires_grad if patterns is None else any(fnmatchcase(name, s) for s in patterns))
        }
        if not chosen:
            found = "no parameter requires a gradient" if patterns is None else f"no parameter matches {parameters!r}"
            fix = "Choose by name with parameters='*' or a pattern among: " + ", ".join([*named][:20])
            if not named:
                found, fix = "the module has no parameters", "Pass a module with layers that are trained"
            raise InputError(found, accepted="at least one parameter", fix=fix)
        others = {name: p.detach() for name, p in named.items() if name not in chosen}
        return cls(module, chosen, others)

    def __call__(
        self, x: Inputs, leaves: dict[str, Tensor] | None = None, *, state: dict[str, Tensor] | None = None
    ) -> Tensor:
        """Runs the module with given parameters; returns a matrix with one row of outputs per example."""
        return output_rows(self.module_output(x, leaves, state=state), count_examples(x))

    def module_output(
        self, x: Inputs, leaves: dict[str, Tensor] | None = None, *, state: dict[str, Tensor] | None = None
    ) -> Any:
        """Runs the module with given parameters; returns its output unchanged, and updates buffers only in
        ``state``.
        """
        if state is None:
            state = {name: b.detach().clone() for name, b in self.module.named_buffers()}
        return self._run({**(self.leaves if leaves is None else leaves), **self.others, **state}, x)

    def _run(self, state: dict[str, Tensor], x: Inputs) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            return functional_call(self.module, state, args, kwargs)

        with wrap_user_errors(self.module, x):
            return call_with_inputs(run, x)


def check_finite_outputs(y: Tensor, start: int = 0) -> None:
    """Raises an error that names the first example whose output is NaN or infinite.

    Cost: one pass over y.

    >>> check_finite_outputs(torch.zeros(2, 1))
    """
    bad = ~torch.isfinite(y).all(dim=1)
    if bad.any():
        where = start + int(bad.nonzero()[0])
        found = f"the output for example {where} is not finite ({int(bad.sum())} such examples)"
        fix = "Look for NaN in the inputs or the weights, or lower the scale of the weights"
        raise NotFiniteError(found, accepted="finite outputs", fix=fix)
