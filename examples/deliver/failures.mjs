// @ts-check
/** What ends the job with a message rather than a stack trace, and with which code. */

export const EXIT = { agreed: 0, failed: 1, usage: 2, SIGINT: 130, SIGTERM: 143 };

/** The user's to mend: the command line or a file it names. */
export class UsageError extends Error {}

/** The run cannot go on now; started again it goes on where it was. */
export class RunFailed extends Error {}
