/** The page in `www/`, in two tabs, as somebody uses it who sees it for the first time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bundlePage, servePage } from '../../../scripts/www.mjs';
import type { Page } from './browser.js';
import { chromium } from './chromium.js';
import { inBrowsers, inEveryBrowser } from './support.js';

let origin = '';
let stop = () => {};

before(async () => {
  await bundlePage();
  const served = await servePage(0);
  origin = served.origin;
  stop = () => {
    served.server.close();
    served.server.closeAllConnections();
  };
});
after(() => stop());

const READY = `document.querySelector('#counts dd')`;
const press = (text: string) => `[...document.querySelectorAll('button')]
  .find((one) => one.textContent === '${text}').click(), ''`;
const set = (name: string, value: number) =>
  `document.querySelector('input[name=${name}]').value = '${value}', ''`;
const count = (state: string) =>
  `Number([...document.querySelectorAll('#counts div')].find((one) =>
    one.firstChild.textContent === '${state}').lastChild.textContent)`;

/** Waits in the page, until the expression is true there. */
async function until(page: Page, expression: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const look = () => (${expression}) ? resolve('') : setTimeout(look, 50);
    look();
  })`);
}

async function read<T>(page: Page, expression: string): Promise<T> {
  return JSON.parse(await page.evaluate(`JSON.stringify(${expression})`)) as T;
}

inEveryBrowser('the page of www/', (running) => {
  test('a crashed worker loses its task to the other tab, under a larger token', async () => {
    const [left, right] = [await running().browser.newPage(), await running().browser.newPage()];
    for (const page of [left, right]) {
      await page.goto(origin);
      await until(page, READY);
    }
    await left.evaluate(set('count', 1));
    await left.evaluate(press('Enqueue'));
    await until(right, `${count('ready')} === 1`);

    await left.evaluate(set('seconds', 60));
    await left.evaluate(press('Start a worker'));
    await until(right, `${count('inflight')} === 1`);
    const cell = (column: number) =>
      `document.querySelector('#tasks tr').cells[${column}].textContent`;
    await until(right, `${cell(3)} !== ''`);
    const token = Number(await read<string>(right, cell(3)));
    await left.evaluate(press('Crash'));

    await right.evaluate(set('seconds', 0.1));
    await right.evaluate(set('failures', 0));
    await right.evaluate(press('Start a worker'));
    await until(right, `${count('done')} === 1`);
    await until(left, `${count('done')} === 1`);
    const log = await read<string[]>(
      left,
      `[...document.querySelectorAll('#log li')].map((one) => one.textContent)`,
    );
    const claims = log.filter((line) => line.includes('claimed task 1'));
    const tokens = claims.map((line) => Number(/token (\d+)/.exec(line)?.[1]));
    assert.equal(tokens.length, 2, log.join('\n'));
    assert.equal(tokens.at(-1), token);
    assert.ok((tokens[0] ?? 0) > token, 'the second claim has the larger token');
    assert.equal(await read(left, `document.querySelector('#trouble').hidden`), true);
    await Promise.all([left.close(), right.close()]);
  });
});

inBrowsers([chromium], 'the page of www/', (running) => {
  test('the keyboard alone enqueues, starts a worker and leads', async () => {
    const page = await running().browser.newPage();
    await page.goto(origin);
    await until(page, READY);
    const key = async (name: string, code: number) => {
      const event = { key: name, code: name, windowsVirtualKeyCode: code };
      const text = name === 'Enter' ? { text: '\r' } : {};
      await page.devtools?.('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...text });
      await page.devtools?.('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    };
    const tabTo = async (what: string) => {
      for (let step = 0; step < 40; step += 1) {
        await key('Tab', 9);
        if ((await read(page, `document.activeElement.textContent`)) === what) return;
      }
      assert.fail(`no Tab leads to ${what}`);
    };
    await tabTo('Enqueue');
    await key('Enter', 13);
    await until(page, `${count('ready')} === 10`);
    await tabTo('Start a worker');
    await key('Enter', 13);
    await until(page, `${count('inflight')} === 1`);
    await tabTo('Lead from this tab');
    await key('Enter', 13);
    await until(page, `document.querySelector('#leading').textContent.startsWith('leads')`);
    await page.close();
  });
});
