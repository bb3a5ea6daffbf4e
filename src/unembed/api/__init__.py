"""What ``import unembed`` offers: audits, single attacks and results, from lists, arrays, frames and files alike."""
