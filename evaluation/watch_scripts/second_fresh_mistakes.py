"""A fourth list of planted mistakes, written before the first run with the detectors for the third list.

They differ from the earlier lists in kind, or in the place of the script. The first run is recorded in
``results/second_fresh_mistakes.md``.
"""

from evaluation.watch_scripts.fresh_mistakes import RNN_SETUP
from evaluation.watch_scripts.further_mistakes import SCHEDULER
from evaluation.watch_scripts.mistakes import STEP, Mistake

VAE_ADAM = "optimizer = optim.Adam(model.parameters(), lr=1e-3)\n"
GCN_TEST = "    model.eval()\n    with torch.no_grad():\n"
RNN_ADADELTA = "    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)\n"
NO_NORMALIZATION = (
    "    dataset2 = datasets.MNIST('../data', train=False,\n"
    "                       transform=transforms.Compose([transforms.ToTensor()]))\n"
)

SECOND_FRESH_MISTAKES = (
    Mistake(
        "layer created in forward",
        "mnist",
        (("        x = self.fc2(x)\n", "        x = nn.Linear(128, 10).to(x.device)(x)\n"),),
        ("layer-made-in-forward",),
    ),
    Mistake(
        "layers of the decoder in a Python list",
        "vae",
        (("        self.fc3 = nn.Linear(20, 400)\n        self.fc4 = nn.Linear(400, 784)\n",
          "        self.decoder = [nn.Linear(20, 400), nn.Linear(400, 784)]\n"),
         ("self.fc3(z)", "self.decoder[0](z)"), ("self.fc4(h3)", "self.decoder[1](h3)")),
        ("not-in-optimizer",),
    ),
    Mistake(
        "plateau schedule that waits for a rising loss",
        "vae",
        ((VAE_ADAM, VAE_ADAM + "scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode='max', patience=1)\n"),
         ("    print('====> Test set loss: {:.4f}'.format(test_loss))\n",
          "    print('====> Test set loss: {:.4f}'.format(test_loss))\n    scheduler.step(test_loss)\n")),
        ("scheduler-wrong-direction",),
    ),
    Mistake(
        "classes and positions exchanged by view",
        "makemore",
        (("            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)\n",
          "            loss = F.cross_entropy(logits.view(b, logits.size(-1), t), targets, ignore_index=-1)\n"),),
        ("reshaped-axes",),
    ),
    Mistake(
        "sum of the losses with a rate for their mean",
        "mnist_rnn",
        (("        loss = F.nll_loss(output, target)\n",
          "        loss = F.nll_loss(output, target, reduction='sum')\n"),
         (RNN_ADADELTA, "    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\n")),
        ("loss-summed", "training-diverged"),
    ),
    Mistake("zero_grad without parentheses", "gat", (("    optimizer.zero_grad()\n", "    optimizer.zero_grad\n"),),
            ("gradients-not-cleared",)),
    Mistake("eval without parentheses", "gcn", ((GCN_TEST, GCN_TEST.replace("eval()", "eval")),), ("eval-missing",)),
    Mistake("train missing after an estimate of the loss", "nanoGPT", (("    model.train()\n    return out", "    return out"),),
            ("train-missing",)),
    Mistake(
        "gradients cleared between two losses",
        "vae",
        (("    return BCE + KLD\n", "    return BCE, KLD\n"),
         ("        loss = loss_function(recon_batch, data, mu, logvar)\n        loss.backward()\n",
          "        first, second = loss_function(recon_batch, data, mu, logvar)\n"
          "        loss = first + second\n        second.backward(retain_graph=True)\n"
          "        optimizer.zero_grad()\n        first.backward()\n"),
         ("loss_function(recon_batch, data, mu, logvar).item()",
          "sum(loss_function(recon_batch, data, mu, logvar)).item()")),
        ("gradients-discarded",),
    ),
    Mistake(
        "checkpoint chosen by the training loss",
        "makemore",
        (("if best_loss is None or test_loss < best_loss:", "if best_loss is None or train_loss < best_loss:"),
         ("best_loss = test_loss", "best_loss = train_loss"), ("step % 500 == 0", "step % 20 == 0")),
        ("checkpoint-by-training-loss",),
    ),
    Mistake("learning rate of 5e-9", "minGPT-adder",
            (("C.trainer.learning_rate = 5e-4", "C.trainer.learning_rate = 5e-9"),),
            ("learning-rate-too-small", "loss-not-falling")),
    Mistake(
        "schedule of an optimizer that was replaced",
        "mnist_rnn",
        ((RNN_SETUP, RNN_SETUP + RNN_ADADELTA),),
        ("scheduler-of-another-optimizer",),
    ),
    Mistake(
        "normalization missing for the test data",
        "mnist",
        (("    dataset2 = datasets.MNIST('../data', train=False,\n                       transform=transform)\n",
          NO_NORMALIZATION),),
        ("train-test-shift",),
    ),
    Mistake(
        "encoder under no_grad",
        "vae",
        (("        mu, logvar = self.encode(x.view(-1, 784))\n",
          "        with torch.no_grad():\n            mu, logvar = self.encode(x.view(-1, 784))\n"),),
        ("no-gradient",),
    ),
    Mistake("part of the loss as a Python number", "vae", (("    return BCE + KLD\n", "    return BCE + KLD.item()\n"),),
            ("loss-part-without-gradient",)),
    Mistake("validation batches from the training file", "nanoGPT",
            (("'val.bin'), dtype", "'train.bin'), dtype"),), ("validation-on-training-data",)),
    Mistake(
        "parameters passed to clipping as a used generator",
        "mnist_rnn",
        ((RNN_ADADELTA, "    parameters = model.parameters()\n    optimizer = optim.Adadelta(parameters, lr=args.lr)\n"
                        "    model.kept = parameters\n"),
         (STEP, "        loss.backward()\n        torch.nn.utils.clip_grad_norm_(model.kept, 1.0)\n"
                "        optimizer.step()\n")),
        ("clip-without-effect",),
    ),
    Mistake(
        "warmup with a whole-number division",
        "mnist",
        ((SCHEDULER, "    scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: epoch // args.epochs)\n"),),
        ("learning-rate-zero",),
    ),
    Mistake("log_softmax over the nodes of a graph", "gat", (("return F.log_softmax(x, dim=1)", "return F.log_softmax(x, dim=0)"),), ("softmax-over-batch",)),
    Mistake("zero_grad missing with updates by hand", "regression",
            (("    fc.zero_grad()\n", ""), ("    if loss < 1e-3:", "    if loss < 1e-3 or batch_idx > 300:")),
            ("gradients-not-cleared",)),
)  # fmt: skip
"""All mistakes of the fourth list."""
