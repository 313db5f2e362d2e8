"""Trains the logistic model of the quickstart and writes its expected output.

    python3 -m venv VENV && VENV/bin/pip install numpy
    VENV/bin/python train.py

The input is winequality-red.csv in the directory of this script (Cortez et al. 2009: 1599 rows with 11 measurements and a grade from 0
to 10). The script shares no code with precast, so `expected.toml` is an independent result.

The model predicts whether a wine is good (grade >= 6). Every fourth row is held out. The other rows determine mean, standard deviation
and weights. Newton's method on the penalized log loss converges to the unique minimum, so every machine gets the same model up to
rounding. The committed files are the output of one run.

Writes model.toml (mean, scale, weights, bias) and expected.toml (all figures of the report) to the same directory.
"""

import csv
import pathlib

import numpy as np

GOOD = 6  # the lowest grade of a good wine
EVERY = 4  # row i is held out if i % EVERY == 0
RIDGE = 1.0  # penalty on the weights (not on the bias): RIDGE / 2 * |w|^2
FIRST = 5  # the number of scores in the report


def read(path):
    """Reads the CSV after its comment. Returns column names, measurements and grades."""
    with open(path, newline="", encoding="ascii") as text:
        names, *rows = csv.reader(line for line in text if not line.startswith("#"))
    table = np.array(rows, dtype=np.float64)
    return names[:-1], table[:, :-1], table[:, -1]


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def train(x, y):
    """Minimizes the penalized log loss by Newton's method. Returns weights and bias."""
    design = np.hstack([x, np.ones((len(x), 1))])
    penalty = np.diag([RIDGE] * x.shape[1] + [0.0])
    theta = np.zeros(design.shape[1])
    for _ in range(50):
        p = sigmoid(design @ theta)
        gradient = design.T @ (p - y) + penalty @ theta
        hessian = design.T @ (design * (p * (1 - p))[:, None]) + penalty
        step = np.linalg.solve(hessian, gradient)
        theta -= step
        if np.abs(step).max() < 1e-14:
            break
    else:
        raise SystemExit("Newton's method did not converge")
    return theta[:-1], theta[-1]


def evaluate(p, y):
    """Returns the figures of the report, each by its textbook definition."""
    good = p >= 0.5
    hits, alarms = int(np.sum(good & (y == 1))), int(np.sum(good & (y == 0)))
    misses, rest = int(np.sum(~good & (y == 1))), int(np.sum(~good & (y == 0)))
    above = p[y == 1][:, None] > p[y == 0][None, :]
    ties = p[y == 1][:, None] == p[y == 0][None, :]
    return {
        "log_loss": float(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))),
        "accuracy": (hits + rest) / len(y),
        "precision": hits / (hits + alarms),
        "recall": hits / (hits + misses),
        "auc": float(np.mean(above + 0.5 * ties)),
        "true_positives": hits,
        "false_positives": alarms,
        "false_negatives": misses,
        "true_negatives": rest,
        "first_scores": [float(v) for v in p[:FIRST]],
    }


def render(table, comment):
    """Formats a value as TOML. `repr` of a float is the shortest text with the same bits."""
    lines = [f"# {comment}", "# Written by train.py; do not edit."]
    for key, value in table.items():
        if isinstance(value, np.ndarray):
            value = value.tolist()
        text = "[" + ", ".join(map(literal, value)) + "]" if isinstance(value, list) else literal(value)
        lines.append(f"{key} = {text}")
    return "\n".join(lines) + "\n"


def literal(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


def main():
    here = pathlib.Path(__file__).parent
    names, x, grade = read(here / "winequality-red.csv")
    y = (grade >= GOOD).astype(np.float64)
    held_out = np.arange(len(x)) % EVERY == 0
    mean, scale = x[~held_out].mean(axis=0), x[~held_out].std(axis=0)
    weights, bias = train((x[~held_out] - mean) / scale, y[~held_out])
    model = {
        "features": names,
        "good_from_grade": GOOD,
        "held_out_every": EVERY,
        "mean": mean,
        "scale": scale,
        "weights": weights,
        "bias": float(bias),
    }
    p = sigmoid((x[held_out] - mean) / scale @ weights + bias)
    expected = {"rows": len(x), "held_out": int(held_out.sum()), "good": int(y[held_out].sum())}
    expected |= evaluate(p, y[held_out])
    (here / "model.toml").write_text(render(model, "Logistic model of good red wine"))
    (here / "expected.toml").write_text(render(expected, "What the held-out rows give, computed with NumPy"))


if __name__ == "__main__":
    main()
