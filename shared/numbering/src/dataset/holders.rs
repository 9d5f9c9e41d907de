//! Counts of exchanges and thousands blocks by holder.

use std::cmp::Reverse;

use jiff::civil::Date;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Dataset, exchanges::HOLDERS, search::Search};
use crate::records::{CarrierType, Ocn};

/// A company and the exchanges and blocks it holds. Numbers may have been ported to other carriers since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Holder {
    /// Operating Company Number; `null` if the report lists a company without one.
    #[schema(required)]
    pub ocn: Option<Ocn>,
    /// `null` if no source names the company.
    #[schema(required, example = "NEW CINGULAR WIRELESS PCS, LLC - DC")]
    pub company_name: Option<String>,
    /// Common or trade name; `null` unless it differs from the company name.
    #[schema(required, example = "AT&T")]
    pub common_name: Option<String>,
    /// `null` if no source provides it.
    #[schema(required)]
    pub carrier_type: Option<CarrierType>,
    /// Exchanges held as a whole, including pooled ones.
    pub exchanges: u32,
    /// Thousands blocks held in pooled exchanges.
    pub blocks: u32,
}

impl Dataset {
    /// The holders of the exchanges that match `search` and of their thousands blocks, sorted by most exchanges, then
    /// by most blocks.
    pub fn holders(&self, search: &Search, today: Date) -> Vec<Holder> {
        let found = self.rows_matching(search, today);
        let last_effective = self.blocks.last_effective(today).unwrap_or(usize::MAX);
        let mut counts = vec![(0, 0); self.holder_count()];
        for area in 0..self.exchanges.area_count() {
            let rows = self.exchanges.rows_of(area);
            let column = &self.exchanges.columns[HOLDERS];
            let mut next_block = self.blocks.blocks_in_rows(area, rows.start, rows.clone()).start;
            for (row, block_count) in rows.clone().zip(self.blocks.counts(rows.clone())) {
                let blocks = next_block..next_block + block_count;
                next_block = blocks.end;
                if !found[row] {
                    continue;
                }
                counts[column.get(area, row)].0 += 1;
                for block in blocks {
                    if self.blocks.effective.get(block) <= last_effective {
                        counts[column.entry(area, self.blocks.holders.get(block))].1 += 1;
                    }
                }
            }
        }
        // The first ID means no holder.
        let held = (1..).zip(counts.into_iter().skip(1)).filter(|(_, counts)| *counts != (0, 0));
        let mut holders: Vec<Holder> =
            held.map(|(id, (exchanges, blocks))| self.holder(id, exchanges, blocks)).collect();
        // The sort is stable, so ties stay in ID order.
        holders.sort_by_key(|holder| Reverse((holder.exchanges, holder.blocks)));
        holders
    }

    fn holder(&self, id: usize, exchanges: u32, blocks: u32) -> Holder {
        let carrier = self.holder_carrier(id);
        let common_name = carrier.and_then(|carrier| self.carriers.common_name(carrier));
        Holder {
            ocn: carrier.map(|carrier| self.carriers.ocn(carrier)),
            company_name: self.holder_company_name(id).map(str::to_owned),
            common_name: common_name.map(str::to_owned),
            carrier_type: carrier.and_then(|carrier| self.carriers.carrier_type(carrier)),
            exchanges,
            blocks,
        }
    }
}
