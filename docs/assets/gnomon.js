// Names for parts that the theme adds without one, and keyboard access to code and formulas that scroll sideways.
(() => {
  const scrolls = (part) => part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight
  const improve = () => {
    document.querySelectorAll("nav.md-code__nav").forEach((nav, i) => nav.setAttribute("aria-label", `Code ${i + 1}`))
    for (const part of document.querySelectorAll("pre > code, .equations, .md-typeset__scrollwrap")) {
      if (scrolls(part) && !part.hasAttribute("tabindex")) part.tabIndex = 0
    }
  }
  addEventListener("load", () => {
    improve()
    new MutationObserver(improve).observe(document.body, { childList: true, subtree: true })
  })
  addEventListener("resize", improve)
})()
