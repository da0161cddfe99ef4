// What the search looks for: the stems of a question's words, without "how do I". docs/hooks/stems.py has the same rules.
(() => {
  const SKIP = new Set(
    ("a about after all also am an and any are as at be become becomes been being but by can could did do does doing for from get gets getting give " +
      "had has have having her here his how i if im in into is it its just keep keeps like make makes making many may me " +
      "might much must my need needs of off on one or our please really s shall should so some something still such t than " +
      "that the their them then there these they this those to try trying us use used using very want was way we were what " +
      "when where whether which while who whose why will with would yet you your").split(" "),
  )
  const ENDINGS = ("izations ization izing izes ized ize isation ations ation ating ates ated ate " +
    "ences ence ness ions ion ings ing ies ed es s e").split(" ")
  const MIN_LETTERS = 4
  const stem = (word) => {
    if (/(ss|us|is)$/.test(word)) return word
    for (const ending of ENDINGS) {
      const left = word.slice(0, -ending.length)
      if (!word.endsWith(ending) || left.length < MIN_LETTERS) continue
      if (ending === "ies") return `${left}y`
      const last = left.at(-1)
      const doubled = (ending === "ing" || ending === "ed") && last === left.at(-2) && !"lsz".includes(last)
      return doubled ? left.slice(0, -1) : left
    }
    return word
  }
  const sought = (question) => {
    const words = question.toLowerCase().replace(/n['’]t\b/g, " not").match(/[^\W_]+/g) ?? []
    const telling = words.filter((word) => !SKIP.has(word))
    const found = [...new Set((telling.length ? telling : words).map(stem))]
    const last = found.at(-1)
    return [...found.map((word) => `${word}^10`), ...(last ? [`${last}*^1`] : [])].join(" ")
  }
  window.gnomonSearch = { stem, sought }
  const send = Worker.prototype.postMessage
  const QUERY = 2 // the kind of message that carries a question
  Worker.prototype.postMessage = function (message, ...rest) {
    const question = message?.type === QUERY ? { ...message, data: sought(message.data) } : message
    return send.call(this, question, ...rest)
  }
})()
