/**
 * The numbers of the engine's operations, as `src/wasm/operations.rs` has them; a test compares the
 * lists. Constants of their own, and no object: a bundler puts the numbers where they are used.
 */

export const start = 0;
export const checkName = 1;
export const addCaller = 2;
export const removeCaller = 3;

export const queueEnqueue = 4;
export const queueEnqueueMany = 5;
export const queueClaim = 6;
export const queueComplete = 7;
export const queueCompleteMany = 8;
export const queueFail = 9;
export const queueHeartbeat = 10;
export const queueRelease = 11;
export const queueAbandon = 12;
export const queueCancel = 13;
export const queueSweep = 14;
export const queueRedrive = 15;
export const queuePurge = 16;
export const queuePause = 17;
export const queueGet = 18;
export const queueList = 19;
export const queueCounts = 20;
export const queueNextDue = 21;
export const queueExplain = 22;
export const removalOf = 23;
export const queues = 24;

export const leaseAcquire = 25;
export const leaseRenew = 26;
export const leaseRelease = 27;
export const leaseGuardedCommit = 28;
export const leaseStatus = 29;
export const leaseList = 30;

export const kvPut = 31;
export const kvDelete = 32;
export const kvGet = 33;
export const kvList = 34;

export const schedulePut = 35;
export const scheduleRemove = 36;
export const scheduleGet = 37;
export const scheduleList = 38;
export const cronList = 39;
export const nextCron = 40;
export const fireDue = 41;
export const fireCron = 42;
export const repairClock = 43;

export const txBegin = 44;
export const txCommit = 45;
export const txAbort = 46;
export const txRequireClaim = 47;
export const txRequireLease = 48;
export const txCheck = 49;
export const txGet = 50;
export const txKvGet = 51;
export const txKvList = 52;

export const found = 53;
export const foundRestoring = 54;
export const takeEntry = 55;
export const mergeSealed = 56;
export const merge = 57;
export const discard = 58;
export const snapshotBegin = 59;
export const restoreBegin = 60;
export const maintain = 61;
export const head = 62;
export const nextDue = 63;
export const holds = 64;
export const rowsHash = 65;
export const verify = 66;

export const recordEvents = 67;
export const stopRecording = 68;
export const events = 69;
export const forgetEvents = 70;

export const queueOf = 71;
export const touched = 72;
export const queueMayWork = 73;
export const reclaim = 74;
export const newestToken = 75;
export const queueByKey = 76;
export const queuePromote = 77;
export const queueReschedule = 78;

export const snapshotPart = 80;
export const snapshotEnd = 81;
export const restorePart = 82;
export const restoreEnd = 83;
export const adopt = 84;
export const usage = 85;
