/** The browsers of the tests: Debian's packages, installed when they are missing. */
import { Failure } from './command.mjs';
import { areInstalled, areOffered, hasApt, install, installLine, isRoot } from './debian.mjs';
import { UNCHANGED } from './stamp.mjs';
import { step } from './step.mjs';

const PACKAGES = [
  'chromium',
  'chromium-driver',
  'firefox-esr',
  'webkit2gtk-driver',
  'xvfb',
  'xauth',
];

/** Only root can install them; anybody else is told the line to run. */
export async function installBrowsers() {
  await step('browsers', async () => {
    if (await areInstalled(PACKAGES)) return UNCHANGED;
    if (!isRoot() || !(await hasApt()) || !(await areOffered(PACKAGES))) {
      throw new Failure(
        'The browser tests need Chromium, Firefox ESR and WebKitGTK. On Debian and its like:\n\n' +
          `    ${installLine(PACKAGES)}`,
      );
    }
    return install(PACKAGES);
  });
}
