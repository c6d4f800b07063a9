/** Who calls, as the engine wants it. */

/** Some rights on a name, or on all names with a prefix that ends in `*`. */
export interface GrantRequest {
  readonly realm: 'queue' | 'lease' | 'kv';
  readonly pattern: string;
  /** Whether the pattern is a name, whatever it ends in. */
  readonly isExact: boolean;
  readonly rights: readonly string[];
}

/** A caller as the engine wants it. */
export interface CallerRequest {
  readonly actor: string;
  /** Its own grants behind those of whoever handed rights on to it: each list must allow. */
  readonly may: readonly (readonly GrantRequest[])[];
}
