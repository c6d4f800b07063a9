/** Firefox killed while it writes: see `kill.ts`. */
import { firefox } from './firefox.js';
import { killWhileWriting, ROUNDS } from './kill.js';

killWhileWriting(firefox, ROUNDS);
