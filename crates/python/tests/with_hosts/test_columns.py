"""Functions of precast on columns of Polars and DuckDB: values, nulls, dtypes, groups, errors."""

import numpy as np
import precast
import pytest

pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
import precast.duckdb  # noqa: E402
import precast.polars  # noqa: E402

FRAME = pl.DataFrame({"a": [1.0, None, 3.0, 0.5], "b": [1.0, 2.0, 3.0, None], "c": [1.0, 2.0, 3.0, 4.0], "g": [1, 1, 2, 2]})


@pytest.fixture(scope="module")
def bell():
    return precast.function("x: f64, y: f64", "out = exp(-x*x)*y", name="bell", policy="jit")


@pytest.fixture(scope="module")
def both():
    return precast.function("x: f64[?]", ["twice = x*2", "is_high = x > 1"], name="pair", policy="jit")


@pytest.fixture(scope="module")
def center():
    return precast.function("x: f64[n]", "out: f64[n] = x - mean(x)", name="center", policy="jit")


@pytest.fixture
def connection():
    made = duckdb.connect()
    made.register("t", FRAME.to_arrow())
    return made


def test_rows_with_nulls_are_null(bell):
    made = FRAME.select(out=precast.polars.expr(bell)("a", pl.col("b")))["out"]
    assert made.is_null().to_list() == [False, True, False, True]
    assert np.allclose(made.drop_nulls(), [np.exp(-1), 3 * np.exp(-9)])
    assert made.dtype == pl.Float64


class Spy:
    """Records the arguments of a ufunc."""

    def __init__(self, ufunc):
        self.ufunc, self.seen = ufunc, []

    def __call__(self, *values):
        self.seen += values
        return self.ufunc(*values)


def test_functions_do_not_see_nulls(bell):
    columns = precast._arrow.Columns(bell)
    spy = columns._ufunc = Spy(columns._ufunc)
    made = columns.call([FRAME["a"].to_arrow(), FRAME["b"].to_arrow()])
    assert [list(each) for each in spy.seen] == [[1.0, 3.0], [1.0, 3.0]] and made.null_count == 2


def test_columns_are_read_in_place(bell):
    x = pl.Series("x", np.linspace(0, 1, 1000))
    columns = precast._arrow.Columns(bell)
    spy = columns._ufunc = Spy(columns._ufunc)
    array = x.to_arrow()
    made = columns.call([array, array])
    assert [each.__array_interface__["data"][0] for each in spy.seen] == [array.buffers()[1].address] * 2
    assert np.allclose(made, np.exp(-x.to_numpy() ** 2) * x.to_numpy())


def test_slices_chunks_and_single_rows_match(bell):
    expr, plain = precast.polars.expr(bell), lambda x, y: np.exp(-x * x) * y
    chunked = pl.concat([FRAME, FRAME[1:3]], rechunk=False)
    for frame in (FRAME, FRAME[1:], FRAME[2:3], chunked, FRAME[:0], FRAME.reverse()):
        made = frame.select(out=expr("a", "c"))["out"]
        wanted = [None if x is None else plain(x, y) for x, y in frame.select("a", "c").iter_rows()]
        assert made.is_null().to_list() == [each is None for each in wanted]
        assert np.allclose(made.drop_nulls(), [each for each in wanted if each is not None])
    assert FRAME.select(out=expr("c", 2.0))["out"].to_list() == FRAME.select(out=expr(y=pl.lit(2.0), x="c"))["out"].to_list()
    assert FRAME.select(out=expr("c", None))["out"].null_count() == 4


def test_bools_are_bits():
    either = precast.polars.expr(precast.function("x: bool[?], y: bool[?]", "out = x | y", policy="jit"))
    frame = pl.DataFrame({"x": [True, False, None] * 7, "y": [False, False, True] * 7})
    for part in (frame, frame[1:], frame[5:17]):
        made = part.select(out=either("x", "y"))["out"]
        assert made.to_list() == [None if x is None else x or y for x, y in part.iter_rows()]


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"])
def test_dtypes_are_kept(dtype, connection):
    double = precast.function(f"x: {dtype}[?]", "out = x + x", name="double", policy="jit")
    series = pl.Series("x", np.array([1, 2, 3], precast.Type(dtype).dtype))
    made = series.to_frame().select(precast.polars.expr(double)("x"))["x"]
    assert made.dtype == series.dtype and made.to_list() == [2, 4, 6]
    precast.duckdb.register(connection, double)
    sql = precast.duckdb._SQL[str(precast._arrow.arrow_type("x", precast.Type(dtype)))]
    assert connection.sql(f"select double(x::{sql}) from (values (1), (NULL), (3)) v(x)").fetchall() == [(2,), (None,), (6,)]


def test_several_results_are_structs(both, connection):
    made = FRAME.select(out=precast.polars.expr(both)("a"))["out"]
    assert made.to_list() == [{"twice": 2.0, "is_high": False}, None, {"twice": 6.0, "is_high": True}, {"twice": 1.0, "is_high": False}]
    precast.duckdb.register(connection, both)
    assert connection.sql("select pair(a).twice, pair(a) is null from t").fetchall() == [(2.0, False), (None, True), (6.0, False), (1.0, False)]


def test_functions_of_whole_columns_work_on_groups(center):
    expr = precast.polars.expr(center)
    assert FRAME.select(expr("c"))["c"].to_list() == [-1.5, -0.5, 0.5, 1.5]
    assert FRAME.select(expr("c").over("g"))["c"].to_list() == [-0.5, 0.5, -0.5, 0.5]
    total = precast.polars.expr(precast.function("x: f64[n], scale: f64[]", "out = sum(x)*scale", policy="jit"))
    assert FRAME.group_by("g", maintain_order=True).agg(total("c", 2.0))["c"].to_list() == [6.0, 14.0]
    assert FRAME.select(total("c", 2.0))["c"].to_list() == [20.0]
    with pytest.raises((precast.CallValueError, pl.exceptions.PolarsError)):
        FRAME.select(expr("a"))


def test_lazy_frames_and_filters_match(bell):
    expr = precast.polars.expr(bell)
    lazy = FRAME.lazy().with_columns(out=expr("c", "c")).filter(pl.col("g") == 2).collect()
    assert np.allclose(lazy["out"], [3 * np.exp(-9), 4 * np.exp(-16)])
    streamed = pl.DataFrame({"x": np.linspace(0, 1, 100_000)}).lazy().select(expr("x", "x")).collect(engine="streaming")
    assert np.allclose(streamed["x"], np.exp(-np.linspace(0, 1, 100_000) ** 2) * np.linspace(0, 1, 100_000))


def test_sql_functions_match(bell, connection):
    precast.duckdb.register(connection, bell)
    precast.duckdb.register(connection, bell, "gauss")
    rows = connection.sql("select bell(a, b), gauss(c, 2) from t").fetchall()
    assert [row[0] is None for row in rows] == [False, True, False, True]
    assert np.allclose([row[1] for row in rows], 2 * np.exp(-np.arange(1.0, 5.0) ** 2))
    many = connection.sql("select sum(bell(x::double, 1)) from range(100000) v(x)").fetchall()[0]
    assert np.isclose(many[0], np.exp(-np.arange(50.0) ** 2).sum())
    assert connection.sql("select bell(x, x) from t, (select NULL::double as x) limit 1").fetchall() == [(None,)]


def test_functions_of_bundles_are_called(model, connection):
    frame = pl.DataFrame({"x": [0.5, None, 2.0]})
    assert frame.select(precast.polars.expr(model.gauss)("x"))["x"].null_count() == 1
    precast.duckdb.register(connection, model.gauss)
    found = connection.sql("select gauss(0.0)").fetchall()[0]
    assert found == (model.gauss(0.0),)


@pytest.mark.parametrize("types", ["x: bf16[?]", "x: c128[?]"])
def test_dtypes_without_columns_are_errors(types):
    with pytest.raises(precast.GraphTypeError):
        precast.polars.expr(precast.function(types, "out = copy(x)", policy="interpret"))


def test_wrong_columns_are_errors(bell, both, center, connection):
    expr = precast.polars.expr(bell)
    for wrong in (("g", "a"), ("a", pl.lit("text"))):
        with pytest.raises((precast.CallTypeError, pl.exceptions.PolarsError)):
            FRAME.select(expr(*wrong))
    with pytest.raises(precast.CallTypeError):
        expr("a")
    with pytest.raises(precast.CallTypeError):
        expr("a", z="b")
    with pytest.raises(precast.GraphTypeError):
        precast.duckdb.register(connection, center)
    with pytest.raises(precast.GraphTypeError):
        precast.duckdb.register(connection, precast.function("x: f16[?]", "out = x", policy="interpret"))
    precast.duckdb.register(connection, both)
    with pytest.raises(duckdb.Error):
        connection.sql("select pair('text') from t").fetchall()
