// node validate_sarif.mjs --modules NODE_MODULES FILE…: exit 0 if each is SARIF 2.1.0 by its schema.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [, , , modules, ...files] = process.argv;
const require = createRequire(`${modules}/`);
const Ajv = require('ajv');

const ajv = new Ajv({ allErrors: true, schemaId: 'auto' });
ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-04.json'));
const validate = ajv.compile(require('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'));
for (const file of files) {
  if (validate(JSON.parse(readFileSync(file, 'utf8')))) continue;
  console.error(file, JSON.stringify(validate.errors, null, 1));
  process.exitCode = 1;
}
