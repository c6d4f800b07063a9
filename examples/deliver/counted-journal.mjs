// @ts-check
/** A journal that counts what goes into another one: the table wants to tell how many entries. */

/** @typedef {import('fencepost').Journal} Journal */
/** @typedef {Journal & { readonly entries: number }} CountedJournal */

/**
 * @param {Journal} journal
 * @returns {CountedJournal} `entries` counts all that were ever stored, by earlier processes too
 */
export function counted(journal) {
  let newest = 0;
  return {
    get entries() {
      return newest;
    },
    async open(name, options) {
      const news = await journal.open(name, options);
      newest = news.tip?.slot ?? 0;
      return news;
    },
    async commit(after, decide) {
      let stored = newest;
      await journal.commit(after, (news) => {
        const entry = decide(news);
        stored = (news.tip?.slot ?? 0) + (entry === null ? 0 : 1);
        return entry;
      });
      newest = stored;
    },
    compact: (slot, snapshot) => journal.compact(slot, snapshot),
    watch: journal.watch && ((onNews) => /** @type {any} */ (journal).watch(onNews)),
    now: journal.now && (() => /** @type {any} */ (journal).now()),
    close: () => journal.close(),
  };
}
