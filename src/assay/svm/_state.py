"""What the thresholds and certificates of the support vector machines must look like."""

from __future__ import annotations

from assay.base.stored import Array, OneOf, Plain, declared, each

#: One number for each binary problem; `margin_` and `C_` may be infinite.
CERTIFICATE = declared(
    **each("intercept_ kkt_residual_ duality_gap_", Array("tasks")),
    **each("margin_ C_", Array("tasks", above=0, finite=False)),
    stop_reason_=Plain(str),
    fit_status_=OneOf((0, 1)),
)
