//! Known reasons for lines that are slower than their fastest peer or miss their target.

/// The reason for loops over memory with one result for many elements.
const LOADS: &str = "in some runs as fast as loads alone, in some up to a third slower; the same loop in a C program varies alike, in any order of reads and with any prefetch distance; a loop with 16-byte loads varies less and lies between the two";

/// The reason for operands that are broadcast along short rows.
const REPEATED: &str = "a column is repeated to rows in a block before it is added";

/// The reason for decompositions by rotations.
const DIAGONAL: &str = "each rotation waits for a root and two divisions; large matrices are reduced by products with vectors, not with matrices";

/// The reason for functions of several kernels.
const STEPS: &str = "a decomposition and several small kernels follow one another";

/// The reason for decompositions in panels.
const PANELS: &str = "the elements of small matrices are moved one by one";

/// The reason for loops over a megabyte.
const CACHES: &str = "the loop is as fast as the caches; runs with other memory for operands and results have the opposite order";

/// The reason for functions of a microsecond in a mode of PyTensor.
const LINKER: &str =
    "a thunk of the linker calls the module with PyTensor's storage, which takes a microsecond";

/// The reasons, by prefix and suffix of a line's name; the first match wins.
const REASONS: &[(&str, &str, &str)] = &[
    (
        "tanh",
        "",
        "precast uses no fused multiplication and no table, so that every machine gives the same bits, and divides once per element",
    ),
    ("functions", "", "as for `tanh`; `exp` and `log1p` follow"),
    ("black-scholes", "", "as for `tanh`: two `erf`, `exp` and `log` without fused multiplications"),
    (
        "logsumexp",
        "",
        "as for `tanh`: `exp` without fused multiplications; a first loop finds the largest element of each row",
    ),
    ("softmax", "", "as for `tanh`: `exp` without fused multiplications"),
    (
        "layernorm",
        "",
        "three loops over each cached row, for mean, variance and result, in addition to the time for memory",
    ),
    ("switch", "", "the loop is as fast as memory; the time depends on the memory that the result gets"),
    (
        "chain of 1000000",
        "",
        "the loop is as fast as memory; the time depends on the memory that the result gets",
    ),
    ("x[v]", "", "each index is checked before the first read, and every read misses the caches"),
    (
        "x[::2]",
        "",
        "both operands are gathered into blocks before they are added, so each cache line is read twice",
    ),
    ("(x + transpose(y))", "", "the loop is as fast as memory, with accesses spread over many pages"),
    (
        "transpose(x) + y",
        "",
        "each cache line of the transposed operand is on another page: the hardware cannot prefetch them, and explicit prefetches take the place of reads",
    ),
    ("sum(exp", "", "six operations on few elements, dominated by the cost of a call"),
    ("sum(", "", LOADS),
    ("max(", "", LOADS),
    (
        "var",
        "",
        "memory is read twice, and squares are stored in a block so that the sum has its defined order",
    ),
    ("stencil", "", "rows of views do not start at cache lines, so half of the vectors span two lines"),
    ("argmax", "", LOADS),
    (
        "logistic",
        "",
        "a product with a vector and then a loop, both through memory; `softplus` uses no fused multiplications",
    ),
    (
        "distances",
        "",
        "each element of one operand is broadcast to a row before the other operand is subtracted",
    ),
    ("batched-dot", "", "each product is planned separately"),
    (
        "dot(x, y), 2000×2000 by 2000",
        "",
        "eight rows at once, from memory; in a process of its own, precast is faster than OpenBLAS",
    ),
    (
        "dot",
        "2 threads",
        "helper threads sleep between calls, whereas OpenBLAS's spin, so a halted virtual processor must be woken; each thread copies the shared operand",
    ),
    (
        "three outputs, 10",
        "",
        "two reductions of ten elements by trees of lanes take 26 ns more than of one element",
    ),
    (
        "from a store",
        "",
        "the files of a record are opened, read and hashed one by one; the difference is within the spread",
    ),
    (
        "open, verify and bind 1000 entries of 1000 modules",
        "",
        "each module is mapped, relocated and protected separately",
    ),
    ("dot", "", "each element is a chain of additions over blocks of 256"),
    ("plus-row", "", REPEATED),
    ("exp, log1p of 10", "", LINKER),
    ("Cholesky and", "", LINKER),
    ("inc_subtensor at", "", LINKER),
    ("eight schools with", "", LINKER),
    ("rows of 200", "", "rows of 50 elements are walked three times, and each fold has a tree of lanes"),
    ("sums of 500 rows", "", "the rows are copied before they are added"),
    ("plus-column", "", REPEATED),
    ("plus-both", "", REPEATED),
    ("plus-reversed", "", "reversed rows are copied to a block before they are added"),
    (
        "differences-rows",
        "",
        "both operands are gathered into blocks before they are subtracted, so each cache line is read twice",
    ),
    ("differences-columns", "", CACHES),
    ("sum-columns", "", CACHES),
    ("maxima-columns", "", CACHES),
    (
        "censored",
        "",
        "Stan's program computes the tails once for all censored observations, PyMC's graph for each observation",
    ),
    ("plus-transposed", "", "the operand is turned tile by tile before it is added"),
    ("eigh of ", "", DIAGONAL),
    ("eigvalsh of ", "", DIAGONAL),
    ("svd of ", "", DIAGONAL),
    ("svdvals of ", "", DIAGONAL),
    ("pinv of ", "", DIAGONAL),
    (
        "qr of ",
        "",
        "reflections are applied one after another, to four rows at a time, not as products of matrices",
    ),
    ("det of ", "", STEPS),
    ("slogdet of ", "", STEPS),
    ("expm of ", "", STEPS),
    ("lu of ", "", STEPS),
    ("solve of ", "", PANELS),
    ("inv of ", "", PANELS),
    ("lu_factor of ", "", PANELS),
    ("cholesky of ", "", PANELS),
];

/// Returns the reason why the line of this name may be slower than a peer or a target.
pub(super) fn reason(what: &str) -> Option<&'static str> {
    REASONS
        .iter()
        .find(|(begins, ends, _)| what.starts_with(begins) && what.ends_with(ends))
        .map(|(_, _, why)| *why)
}
