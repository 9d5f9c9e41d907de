//! Bar charts as SVG files that stand alone: without fonts or scripts of others, readable on a
//! light and on a dark page, and with a text for those who do not see them.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const MARGIN: f64 = 16.0;
const LABEL_WIDTH: f64 = 190.0;
/// Room for the sum at the end of the longest bar.
const VALUE_WIDTH: f64 = 76.0;
const TITLE_HEIGHT: f64 = 70.0;
const ROW_HEIGHT: f64 = 26.0;
const BAR_HEIGHT: f64 = 16.0;
/// How wide a letter of the legend is, about.
const LETTER_WIDTH: f64 = 6.4;

/// The colors, which a page cannot set for a picture. The picture has a ground of its own, so that
/// it is readable even where the page is light and the system is dark.
const STYLE: &str = "\
    text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}\
    .title{font-size:15px;font-weight:600}.end{text-anchor:end}\
    .ground{fill:#fff;stroke:#d1d9e0}\
    .ours0{fill:#0969da}.ours1{fill:#54aeff}.baseline0{fill:#6e7781}.baseline1{fill:#afb8c1}\
    @media(prefers-color-scheme:dark){text{fill:#f0f6fc}.ground{fill:#0d1117;stroke:#3d444d}\
    .ours0{fill:#1f6feb}.ours1{fill:#79c0ff}.baseline0{fill:#6e7681}.baseline1{fill:#b1bac4}}";

/// Bars below each other, each with its sum at its end.
#[derive(Debug, Clone)]
pub struct BarChart {
    pub title: String,
    /// What was measured, for those who do not see the picture.
    pub description: String,
    pub unit: &'static str,
    /// What the parts of each bar are, at most two; a single part needs no name.
    pub parts: Vec<String>,
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    pub label: String,
    pub parts: Vec<f64>,
    /// Whether the others are compared with it.
    pub is_baseline: bool,
}

impl Bar {
    fn sum(&self) -> f64 {
        self.parts.iter().sum()
    }

    fn class(&self, part: usize) -> String {
        let kind = if self.is_baseline { "baseline" } else { "ours" };
        format!("{kind}{part}")
    }
}

impl BarChart {
    /// The picture.
    pub fn svg(&self) -> String {
        let height = TITLE_HEIGHT + ROW_HEIGHT * self.bars.len() as f64 + MARGIN;
        let (title, description) = (escaped(&self.title), escaped(&self.in_words()));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
             <title id=\"title\">{title}</title>\n<desc id=\"desc\">{description}</desc>\n\
             <style>{STYLE}</style>\n\
             <rect class=\"ground\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n\
             <text class=\"title\" x=\"{MARGIN}\" y=\"28\">{title}</text>\n",
            WIDTH - 1.0,
            height - 1.0,
        );
        self.add_legend(&mut svg);
        let longest = self.bars.iter().map(Bar::sum).fold(f64::MIN_POSITIVE, f64::max);
        let scale = (WIDTH - 2.0 * MARGIN - LABEL_WIDTH - VALUE_WIDTH) / longest;
        for (row, bar) in self.bars.iter().enumerate() {
            let top = TITLE_HEIGHT + ROW_HEIGHT * row as f64;
            self.add_bar(&mut svg, bar, top, scale);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn add_bar(&self, svg: &mut String, bar: &Bar, top: f64, scale: f64) {
        let baseline = top + BAR_HEIGHT - 4.0;
        let mut left = MARGIN + LABEL_WIDTH;
        let label = escaped(&bar.label);
        _ = writeln!(
            svg,
            "<text class=\"end\" x=\"{}\" y=\"{baseline}\">{label}</text>",
            left - 8.0
        );
        for (part, value) in bar.parts.iter().enumerate() {
            let (class, width) = (bar.class(part), value * scale);
            _ = writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" \
                 height=\"{BAR_HEIGHT}\"/>"
            );
            left += width;
        }
        let (left, sum) = (left + 6.0, self.amount(bar.sum()));
        _ = writeln!(svg, "<text x=\"{left:.1}\" y=\"{baseline}\">{sum}</text>");
    }

    fn add_legend(&self, svg: &mut String) {
        let mut left = MARGIN;
        for (part, name) in self.parts.iter().enumerate() {
            let (text, after) = (left + 18.0, LETTER_WIDTH * name.chars().count() as f64);
            _ = writeln!(
                svg,
                "<rect class=\"ours{part}\" x=\"{left}\" y=\"42\" width=\"12\" height=\"12\"/>\n\
                 <text x=\"{text}\" y=\"52\">{}</text>",
                escaped(name),
            );
            left = text + after + 24.0;
        }
    }

    /// The description, followed by each bar with its sum.
    fn in_words(&self) -> String {
        let bars = self.bars.iter().map(|bar| format!("{} {}", bar.label, self.amount(bar.sum())));
        format!("{} {}.", self.description, bars.collect::<Vec<_>>().join(", "))
    }

    fn amount(&self, value: f64) -> String {
        format!("{value:.1} {}", self.unit)
    }
}

/// A text as XML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> BarChart {
        let bar = |label: &str, parts: [f64; 2], is_baseline| Bar {
            label: label.to_owned(),
            parts: parts.to_vec(),
            is_baseline,
        };
        BarChart {
            title: "Start & answer".to_owned(),
            description: "Two functions.".to_owned(),
            unit: "ms",
            parts: vec!["start".to_owned(), "answer".to_owned()],
            bars: vec![bar("hello", [1.0, 1.0], true), bar("npa", [3.0, 1.0], false)],
        }
    }

    /// The widths of the rectangles of a class.
    fn widths(svg: &str, class: &str) -> Vec<f64> {
        let class = format!("<rect class=\"{class}\"");
        let bars =
            svg.lines().filter(|line| line.starts_with(&class) && line.contains("height=\"16\""));
        let width = |line: &str| line.split("width=\"").nth(1)?.split('"').next()?.parse().ok();
        bars.filter_map(width).collect()
    }

    #[test]
    fn bars_are_as_long_as_what_they_stand_for() {
        let svg = chart().svg();
        let [start] = widths(&svg, "ours0")[..] else { panic!("{svg}") };
        let [answer] = widths(&svg, "ours1")[..] else { panic!("{svg}") };
        let [baseline] = widths(&svg, "baseline0")[..] else { panic!("{svg}") };
        assert!((start / answer - 3.0).abs() < 0.01 && (answer - baseline).abs() < 0.2, "{svg}");
    }

    #[test]
    fn a_picture_says_in_words_what_it_shows() {
        let svg = chart().svg();
        assert!(svg.contains("<desc id=\"desc\">Two functions. hello 2.0 ms, npa 4.0 ms.</desc>"));
        assert!(svg.contains("<title id=\"title\">Start &amp; answer</title>"), "{svg}");
    }
}
