/** The browsers of the tests: Debian's packages, installed when they are missing. */
import { Failure, run, succeeds } from './command.mjs';
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
const APT_INSTALL = ['install', '-y', '--no-install-recommends', ...PACKAGES];
const APT_ENV = { DEBIAN_FRONTEND: 'noninteractive' };

/** Only root can install them; anybody else is told the line to run. */
export async function installBrowsers() {
  await step('browsers', async () => {
    if (await packagesAreThere()) return UNCHANGED;
    if (process.getuid?.() !== 0 || !(await succeeds('apt-get', ['--version']))) {
      throw new Failure(
        'The browser tests need Chromium, Firefox ESR and WebKitGTK. On Debian and its like:\n\n' +
          `    sudo apt-get update && sudo apt-get ${APT_INSTALL.join(' ')}`,
      );
    }
    await run('apt-get', ['update'], { env: APT_ENV });
    return run('apt-get', APT_INSTALL, { env: APT_ENV });
  });
}

async function packagesAreThere() {
  // The trap: a package that was removed is still known, under another status.
  const query = ['--show', `--showformat=\${db:Status-Status} `, ...PACKAGES];
  const states = await run('dpkg-query', query).catch(() => 'missing');
  return states
    .trim()
    .split(' ')
    .every((state) => state === 'installed');
}
