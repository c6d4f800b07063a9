/** What tests call in a page. Arguments and results are JSON. */
export { conformanceCase } from './conformance.js';
