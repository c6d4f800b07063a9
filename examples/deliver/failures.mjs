// @ts-check
/** What ends the job with a message rather than a stack trace. */

/** The user's to mend: the command line or a file it names. */
export class UsageError extends Error {}

/** The run cannot go on now; started again it goes on where it was. */
export class RunFailed extends Error {}
