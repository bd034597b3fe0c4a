"""The counts that a report shows."""

COUNTS = ("true_positives", "false_negatives", "false_positives", "true_negatives")
"""As the page calls them."""


def counts_at_every_threshold(page):
    """What the table shows as the slider moves from its first place to its last."""
    return page.evaluate(
        """names => {
            const slider = document.getElementById("threshold");
            return Array.from({ length: Number(slider.max) + 1 }, (_, at) => {
                slider.value = at;
                slider.dispatchEvent(new Event("input"));
                const shown = names.map(name => document.getElementById(`now-${name}`).textContent);
                return shown.map(text => Number(text.replaceAll(",", "")));
            });
        }""",
        COUNTS,
    )
