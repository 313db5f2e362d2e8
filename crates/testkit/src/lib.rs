//! Development only: random graphs, fixtures, comparison in ulp
