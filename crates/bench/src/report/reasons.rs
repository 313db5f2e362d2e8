//! Known reasons for lines that are slower than their fastest peer or miss their target.

/// The reason for loops over memory with one result for many elements.
const LOADS: &str = "as fast as loads alone in some runs and up to a third slower in others, and so is the same loop in a C program, in whatever order it reads and however far ahead it asks; one of 16 bytes at a time is steadier, between the two";

/// The reasons, by prefix and suffix of a line's name; the first match wins.
const REASONS: [(&str, &str, &str); 27] = [
    (
        "tanh",
        "",
        "ours has no fused multiplication and no table, so that every machine gives the same bits, and divides once an element",
    ),
    ("functions", "", "as `tanh`, with `exp` and `log1p` behind it"),
    ("black-scholes", "", "as `tanh`: `erf` twice, `exp` and `log` without fused multiplications"),
    (
        "logsumexp",
        "",
        "as `tanh`: `exp` without fused multiplications, and the largest element of a row is looked for first",
    ),
    ("softmax", "", "as `tanh`: `exp` without fused multiplications"),
    (
        "layernorm",
        "",
        "three loops over a row in the caches, for its mean, its variance and its result, behind what memory takes",
    ),
    ("switch", "", "a loop as fast as memory; which memory a result gets decides"),
    ("chain of 1000000", "", "a loop as fast as memory; which memory a result gets decides"),
    ("x[v]", "", "each index is checked before anything is read, and every read misses the caches"),
    (
        "x[::2]",
        "",
        "both operands are gathered into blocks before they are added, and each line of the caches is read for both",
    ),
    ("(x + transpose(y))", "", "a loop as fast as memory, which walks through pages"),
    (
        "transpose(x) + y",
        "",
        "each line of an operand that runs the other way lies on a page of its own: the hardware sees none of them coming, and asking for them takes the place of reading",
    ),
    ("sum(exp", "", "six operations on few elements, where a call decides"),
    ("sum(", "", LOADS),
    ("max(", "", LOADS),
    (
        "var",
        "",
        "memory is read twice, and squares go through a block to the sum that has the order of all sums",
    ),
    ("stencil", "", "rows of views begin between lines of the cache, so that half of the vectors lie in two"),
    ("argmax", "", LOADS),
    (
        "logistic",
        "",
        "a product with a vector and a loop behind it, through memory; `softplus` has no fused multiplications",
    ),
    ("distances", "", "each element of one side is spread to a row before the other side is taken from it"),
    ("batched-dot", "", "each product is planned by itself"),
    (
        "dot(x, y), 2000×2000 by 2000",
        "",
        "eight rows at once, from memory; within a process alone ours is ahead of OpenBLAS",
    ),
    (
        "dot",
        "2 threads",
        "helpers sleep between calls, where those of OpenBLAS spin, so a halted virtual processor has to be woken; each thread copies the operand that both share",
    ),
    (
        "three outputs, 10",
        "",
        "two reductions of ten elements by trees of lanes, which take 26 ns more than of one element",
    ),
    (
        "from a store",
        "",
        "files of a record are opened, read and hashed one by one; within its spread of the target",
    ),
    (
        "open, verify and bind 1000 entries of 1000 modules",
        "",
        "each module is mapped, relocated and protected by itself",
    ),
    ("dot", "", "each element is a chain over blocks of 256"),
];

/// Returns the reason why the line of this name may be slower than a peer or a target.
pub(super) fn reason(what: &str) -> Option<&'static str> {
    REASONS
        .iter()
        .find(|(begins, ends, _)| what.starts_with(begins) && what.ends_with(ends))
        .map(|(_, _, why)| *why)
}
