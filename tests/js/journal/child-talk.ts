/** Says as many lines as it is told, and dies right behind the last one. */
import { argv, kill, pid } from 'node:process';
import { say } from './say.js';

for (let line = 1; line <= Number(argv[2]); line += 1) say(line);
kill(pid, 'SIGKILL');
