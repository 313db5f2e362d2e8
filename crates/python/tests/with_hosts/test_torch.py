"""Functions of precast as operators of PyTorch: values, gradients, compiled and exported programs, errors."""

import numpy as np
import precast
import pytest

torch = pytest.importorskip("torch")
# Its extension modules have no types that this Python warns about, and dynamo uses deprecated names.
pytestmark = pytest.mark.filterwarnings("ignore")

import precast.torch  # noqa: E402

X = torch.linspace(0, 1, 8, dtype=torch.float64)
LOSS = precast.graph("x: f64[n], s: f64", "out = sum(exp(-x*x))*s")


def function(inputs, outputs, **settings):
    return precast.function(inputs, outputs, policy="interpret", **settings)


def bell(x, y):
    return torch.exp(-x * x) * y + 1


@pytest.fixture(scope="module")
def op():
    return precast.torch.op(function("x: f64[n], y: f64[n]", "out: f64[n] = exp(-x*x)*y + 1", name="bell"), name="bell")


@pytest.fixture(scope="module")
def loss():
    gradient = precast.function(LOSS.value_and_grad(["x", "s"]), policy="interpret")
    return precast.torch.op(precast.function(LOSS, policy="interpret"), gradient=gradient, name="loss")


def plain_loss(x, s):
    return torch.sum(torch.exp(-x * x)) * s


def test_calls_match_torch(op):
    assert torch.allclose(op(X, y=X + 1), bell(X, X + 1))
    columns = torch.arange(24.0, dtype=torch.float64).reshape(8, 3)
    assert torch.allclose(op(columns[:, 1], columns[::, 2]), bell(columns[:, 1], columns[:, 2]))
    assert op(X[:0], X[:0]).shape == (0,)
    assert torch.equal(torch.ops.precast.bell(X, X), op(X, X))


@pytest.mark.parametrize("dtype", ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "c64", "c128"])
def test_dtypes_are_those_of_torch(dtype):
    if dtype == "bf16":
        pytest.importorskip("ml_dtypes")
    copied = precast.torch.op(function(f"x: {dtype}[n]", f"out: {dtype}[n] = copy(x)"))
    given = torch.tensor([0, 1, 1]).to(getattr(torch, precast.Type(dtype).dtype))
    made = copied(given)
    assert made.dtype == given.dtype and torch.equal(made, given) and made.data_ptr() != given.data_ptr()


def test_conjugates_are_resolved():
    copied = precast.torch.op(function("x: c128[n]", "out = copy(x)"))
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128)
    assert torch.equal(copied(x.conj()), x.conj())
    real = precast.torch.op(function("x: f64[n]", "out = copy(x)"))
    assert torch.equal(real(x.conj().imag), x.conj().imag)


def test_several_results_and_numbers():
    made = precast.torch.op(function("x: f64[n,k], s: f64", ["rows: f64[n] = sum(x, axis=1)*s", "top: f64[] = max(x)"]))
    rows, top = made(torch.ones(3, 4, dtype=torch.float64), 2)
    assert rows.tolist() == [8.0] * 3 and top.shape == () and top.item() == 1


def test_gradients_match_torch(loss):
    x, s = X.clone().requires_grad_(), torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(loss, (x, s))
    found = torch.autograd.grad(torch.sin(loss(x * 2, s)), (x, s))
    wanted = torch.autograd.grad(torch.sin(plain_loss(x * 2, s)), (x, s))
    assert all(map(torch.allclose, found, wanted))
    loss(x, 3.0).backward()
    assert x.grad is not None and s.grad is None
    with torch.no_grad():
        assert not loss(x, s).requires_grad


def test_operators_pass_the_checks_of_torch(op, loss):
    x, s = X.clone().requires_grad_(), torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    torch.library.opcheck(torch.ops.precast.bell.default, (X, X))
    torch.library.opcheck(torch.ops.precast.loss_gradient.default, (x, s))


def test_missing_gradients_are_errors(op, loss):
    x = X.clone().requires_grad_()
    with pytest.raises(precast.CallTypeError, match="gradient="):
        op(x, x).sum().backward()
    slope = torch.autograd.grad(loss(x, 1.0) + (x**3).sum(), x, create_graph=True)[0]
    with pytest.raises(precast.CallTypeError):
        slope.sum().backward()
    by_x = precast.torch.op(precast.function(LOSS, policy="interpret"), gradient=precast.function(LOSS.value_and_grad(["x"]), policy="interpret"))
    by_x(x, 1.0).backward()
    with pytest.raises(precast.CallTypeError, match="`s`"):
        by_x(x, torch.tensor(1.0, dtype=torch.float64, requires_grad=True)).backward()


def test_compiled_programs_match_torch(loss):
    x = X.clone().requires_grad_()
    compiled = torch.compile(lambda x: loss(x * 2, 1.5).cos(), backend="aot_eager", fullgraph=True)
    found = torch.autograd.grad(compiled(x), x)[0]
    assert torch.allclose(found, torch.autograd.grad(plain_loss(x * 2, 1.5).cos(), x)[0])


def test_exported_programs_have_the_operator(op):
    class Model(torch.nn.Module):
        def forward(self, x):
            return op(x, x) * 2

    exported = torch.export.export(Model(), (X,), dynamic_shapes=({0: torch.export.Dim("n")},))
    assert "precast.bell" in str(exported.graph)
    assert torch.allclose(exported.module()(X[:5]), bell(X[:5], X[:5]) * 2)


def test_functions_of_bundles_are_called(model):
    score = precast.torch.op(model.score)
    assert torch.allclose(score(X, X, X), torch.sum(torch.exp(-X * X) * X + X))
    assert score(X, X, X).shape == ()


def test_extents_without_names_need_shapes_in_compiled_programs():
    joined = function("x: f64[?], y: f64[?]", "out = concatenate((x, y))")
    plain, shaped = precast.torch.op(joined), precast.torch.op(joined, shapes=lambda x, y: (x[0] + y[0],))
    assert torch.equal(plain(X, X[:3]), torch.cat([X, X[:3]]))
    assert torch.equal(torch.compile(lambda x: shaped(x, x[:3]), backend="aot_eager", fullgraph=True)(X), torch.cat([X, X[:3]]))
    with pytest.raises(Exception, match="shapes="):
        torch.compile(lambda x: plain(x, x[:3]), backend="aot_eager", fullgraph=True)(X)


@pytest.mark.parametrize("arguments", [(X.float(), X), (X, X[:3]), (X[None], X), (X,), (X, "a")], ids=["dtype", "extent", "rank", "count", "text"])
def test_wrong_arguments_are_errors(op, arguments):
    with pytest.raises(precast.CallError):
        op(*arguments)


def test_errors_of_ops_are_raised():
    made = precast.torch.op(function("x: f64[n], i: i64", "out = x[i]"))
    assert made(X, 2) == X[2]
    with pytest.raises(precast.CallIndexError):
        made(X, 9)


def test_arrays_are_not_copied(op):
    seen = []
    real = function("x: f64[n]", "out: f64[n] = x*2")
    made = real(X.numpy())
    tensor = precast.torch._tensor_of(made)
    seen.append(tensor.data_ptr() == made.__array_interface__["data"][0])
    seen.append(precast.torch._array(X).__array_interface__["data"][0] == X.data_ptr())
    assert seen == [True, True] and np.array_equal(tensor.numpy(), made)
