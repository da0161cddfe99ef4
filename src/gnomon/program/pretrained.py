"""Decides which models of the package transformers can be converted, and says why others cannot."""

from typing import Any

from torch import fx, nn

from gnomon.core.errors import UnsupportedModuleError


def is_bert(module: Any) -> bool:
    """Whether a module is one of the BERT models of transformers that can be converted.

    >>> is_bert(nn.Linear(1, 1))
    False
    """
    return type(module).__name__ in ("BertModel", "BertForSequenceClassification") and hasattr(module, "config")


def refuse_transformers(module: nn.Module) -> None:
    """Raises an error for models of transformers whose forward method torch.fx cannot trace."""
    own = [
        (path, m) for path, m in module.named_modules() if hasattr(m, "base_model_prefix") and hasattr(m, "post_init")
    ]
    if others := [(path, m) for path, m in own if not is_bert(m)]:
        path, m = others[0]
        raise UnsupportedModuleError(
            f"{path or 'the module'} ({type(m).__name__}) is a model of transformers, which makes masks and "
            "chooses attention while it runs",
            reason="forward is a fixed sequence of calls; only BertModel and BertForSequenceClassification are read",
            fix="Pass one of these, use nn.TransformerEncoder, or estimate: gnomon.sampled_limit(net, draws=64)",
        )


def classes(module: Any) -> int:
    """Returns the number of classes of a BERT classifier; zero for a BERT model without a classifier."""
    return int(module.num_labels) if hasattr(module, "classifier") else 0


def of_bert(node: fx.Node, root: nn.Module) -> bool:
    """Whether a graph node selects a BERT model's final output by name; raises an error for other outputs of BERT."""
    if node.target is not getattr or node.all_input_nodes[0].op != "call_module":
        return False
    module: Any = root.get_submodule(str(node.all_input_nodes[0].target))
    if not is_bert(module):
        return False
    end = "logits" if classes(module) else "pooler_output" if module.pooler is not None else "last_hidden_state"
    if node.args[1] != end:
        found, fix = f"forward takes '{node.args[1]}' of a {type(module).__name__}", f"Take its {end}"
        raise UnsupportedModuleError(found, reason="only the final output of the model can be read", fix=fix)
    return True
