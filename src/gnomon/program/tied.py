"""Converts group convolutions to program steps; the group elements become an additional axis of positions."""

from math import prod

from gnomon.program import layout as lay
from gnomon.program.affine import read_weights
from gnomon.program.builder import Builder
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.steps import SharedWeightMap, Weights
from gnomon.program.values import Call, Fixed, Random


def tied_convolution(b: Builder, call: Call) -> Random:
    """Converts a layer that shares weights; its method ``tied_form`` lists the input positions of each
    shared weight.
    """
    value, module = call.args[0], call.module
    shape = value.shape if isinstance(value, Fixed) else lay.shape_of(value.layout)
    form = module.tied_form(*shape[2:])
    read = read_weights(b, module, call.where)
    kind, fan_in = type(module).__name__, prod(module.weight.shape[1:])
    weights = Weights(read.path, kind, read.weight, read.bias, fan_in, read.trained)
    if isinstance(value, Fixed):
        if form.before > 1:
            raise b.unread(call, "takes data as features over a group; start with a lifting layer")
        value = b.enter(value, 1, call.where)
    value = b.flush(value, call)
    wanted = _image(shape, form.before)
    if [_roles(d) for d in value.layout[:2]] != [_roles(d) for d in wanted[:2]]:
        raise b.unread(call, "takes features whose channels do not match the group's elements")
    value = b.settle(value, wanted, call.where)
    layout = _image((shape[0], module.weight.shape[0] * form.after, *form.size), form.after)
    return b.emit(SharedWeightMap(weights, form.index), (value.source,), call.where, layout, gaussian=True)


def _roles(dimension: lay.Dimension) -> list[Role]:
    return [a.role for a in dimension if a.size > 1 or a.role is not Role.POSITION]


def _image(shape: tuple[int, ...], elements: int) -> lay.Layout:
    channels: tuple[LayoutAxis, ...] = (LayoutAxis(shape[1] // elements, Role.CHANNEL),)
    if elements > 1:
        channels = (*channels, LayoutAxis(elements, Role.POSITION))
    places = tuple((LayoutAxis(s, Role.POSITION),) for s in shape[2:])
    return ((LayoutAxis(shape[0], Role.BATCH),), channels, *places)
