/** The fields that requests of the engine may have. */

export const CLAIM = ['queue', 'owner', 'max', 'lease'] as const;
export const REFERENCE = ['queue', 'id', 'token'] as const;
export const COMPLETE = [...REFERENCE, 'result', 'followUps', 'writes'] as const;
export const FAIL = [...REFERENCE, 'error', 'delay', 'final', 'writes'] as const;
export const HEARTBEAT = [...REFERENCE, 'extend', 'progress'] as const;
export const CANCEL = ['queue', 'id', 'reason'] as const;
export const GET = ['queue', 'id'] as const;
export const LIST = ['queue', 'state', 'order', 'cursor', 'limit'] as const;
export const ACQUIRE = ['name', 'owner', 'ttl', 'meta'] as const;
export const RENEW = ['name', 'token', 'ttl', 'meta'] as const;
export const RELEASE = ['name', 'token'] as const;
export const GUARDED = ['name', 'token', 'writes'] as const;
