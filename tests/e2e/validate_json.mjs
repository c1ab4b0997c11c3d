// node validate_json.mjs --modules NODE_MODULES --schemas FOLDER: checks JSON values against JSON Schemas.
//
// A line of stdin is {"schema": "stats.json", "value": …}. For each, a line of stdout is null if the
// value is valid by that document of the folder, else a text that says what is wrong. Exit status 1 if a
// document is no JSON Schema.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';

const [, , , modules, , folder] = process.argv;
const Ajv = createRequire(`${modules}/`)('ajv');

// An unknown keyword is a misspelt one.
const ajv = new Ajv({ allErrors: true, strictKeywords: true });
for (const name of readdirSync(folder)) {
  ajv.addSchema(JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')));
}
for (const line of readFileSync(0, 'utf8').split('\n')) {
  if (line === '') continue;
  const { schema, value } = JSON.parse(line);
  const validate = ajv.getSchema(schema);
  const text = validate(value) ? null : ajv.errorsText(validate.errors);
  process.stdout.write(`${JSON.stringify(text)}\n`);
}
