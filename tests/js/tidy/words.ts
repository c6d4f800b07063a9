/** Words that do not belong into a repository. */
import { type Check, type Files, linesOf, matching } from './files.js';

/** Lock files name the registry's index by its public address; a license is not ours to edit. */
const TEXTS = /^(?!.*(?:package-lock\.json|Cargo\.lock|LICENSE-\w+)$)/;

/** Hosts that an address may name: this machine, and those that are reserved for examples. */
const HOSTS =
  /^(localhost|127\.0\.0\.1|\[::1\]|(.+\.)?example(\.(com|net|org))?|.+\.(test|invalid))$/;

/** Work that was left over. It belongs into an issue. */
export const noLeftovers: Check = (files) =>
  places(files, /\b(?:TO(?:DO)|FIX(?:ME)|X(?:XX))\b/, 'names work that was left over');

/** Paths of one person's machine. */
export const noMachinePaths: Check = (files) =>
  places(
    files,
    /(?<![\w./$}~-])\/(?:home|root|tmp|work|Users)\/\w/,
    "names a path of one's machine",
  );

/** Addresses elsewhere: no test may need them, and registries are their clients' business. */
export const noForeignHosts: Check = (files) =>
  matching(files, TEXTS).flatMap(([path, text]) =>
    linesOf(path, text).flatMap(({ place, line }) =>
      [...line.matchAll(/\bhttps?:\/\/([\w.-]*\w|\[::1\])/g)]
        .filter(([, host = '']) => !HOSTS.test(host))
        .map(([, host]) => `${place}: names the host ${host}`),
    ),
  );

function places(files: Files, pattern: RegExp, fault: string): string[] {
  return matching(files, TEXTS)
    .flatMap(([path, text]) => linesOf(path, text))
    .filter(({ line }) => pattern.test(line))
    .map(({ place }) => `${place}: ${fault}`);
}
