"""The reasons why primitives without a rule are refused."""

from __future__ import annotations

_CALLBACK = "it calls Python, and a frozen function cannot"
_DEVICES = "it communicates between devices"
_FACTORS = "precast has no such decomposition"
_REFERENCE = "it changes an array in place through a reference"
_KERNEL = "it is a kernel of one kind of device"
_OTHER = "it calls code outside of JAX"
_CUSTOM = "it is defined by a function of Python that JAX expands later"
_RANDOM = "precast has no such generator"
_CHECK = "it checks values while the function runs"
_TYPE = "it converts values that are not arrays"
#: The default reason.
ELSE = "precast has no rule for it"

REASONS = {
    **dict.fromkeys("debug_callback debug_print inspect_sharding io_callback pure_callback log_extend log_read".split(), _CALLBACK),
    **dict.fromkeys(
        (
            "all_gather all_gather_done all_gather_invariant all_gather_reduced all_gather_reduced_start all_gather_start all_to_all "
            "all_to_all_done all_to_all_start axis_index pbroadcast_dynamic pbroadcast_done pbroadcast_start pmax pmin ppermute "
            "ppermute_done ppermute_start precv psend psum psum_done psum_invariant psum_invariant_start psum_start ragged_all_to_all "
            "reduce_scatter reduce_scatter_done reduce_scatter_start shard_map unreduced_pmax unreduced_pmin unreduced_psum "
            "unreduced_psum_start unreduced_reduce_scatter unreduced_reduce_scatter_start"
        ).split(),
        _DEVICES,
    ),
    **dict.fromkeys(
        "cholesky_update geqp3 geqrf hessenberg householder_product ormqr tridiagonal symmetric_product".split(),
        _FACTORS,
    ),
    **dict.fromkeys(
        (
            "accum_grad_in_ref addupdate box_get box_set core_map empty_ref free_ref freeze get new_box new_log new_ref pin run_state swap unpin"
        ).split(),
        _REFERENCE,
    ),
    **dict.fromkeys(
        (
            "cudnn_fusion dot_product_attention_bwd dot_product_attention_bwd_wrapper dot_product_attention_fp8_bwd "
            "dot_product_attention_fp8_bwd_wrapper dot_product_attention_fp8_fwd dot_product_attention_fp8_fwd_wrapper "
            "dot_product_attention_fwd dot_product_attention_fwd_wrapper scaled_dot scaled_matmul scaled_matmul_wrapper"
        ).split(),
        _KERNEL,
    ),
    **dict.fromkeys("check shape_assertion".split(), _CHECK),
    **dict.fromkeys("call_exported ffi_call".split(), _OTHER),
    **dict.fromkeys(
        (
            "call_hi_primitive_linearized create_linear custom_lin custom_partitioning dce_sink remat_opt "
            "stage tie unreachable"
        ).split(),
        _CUSTOM,
    ),
    **dict.fromkeys("philox2x32 philox4x32 rng_bit_generator rng_uniform threefry4x32".split(), _RANDOM),
    **dict.fromkeys("after_all create_token from_edtype to_edtype".split(), _TYPE),
}


def of(name: str) -> str:
    """Returns the reason why a primitive has no rule."""
    return REASONS.get(name, ELSE)
