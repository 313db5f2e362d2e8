"""The PyTensor example of the front page runs and gives correct results."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pytensor")

README = Path(__file__).parents[4] / "README.md"


def test_the_front_page_freezes_a_function(tmp_path, monkeypatch):
    (example,) = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(example, names)
    x = np.array([-1.0, 0.0, 2.0])
    assert names["value"] == pytest.approx((-(x**2) / 2 - np.log1p(np.exp(-x))).sum(), rel=1e-13)
    np.testing.assert_allclose(names["gradient"], -x + 1 / (1 + np.exp(x)), rtol=1e-13)
