-- A minimal test runner: named cases, a few assertions, and waiting for a condition.

local M = {}

local cases = {} ---@type { name: string, body: fun() }[]

---@param name string the expected behavior as a sentence
---@param body fun()
function M.case(name, body)
  table.insert(cases, { name = name, body = body })
end

local function fail(text, level)
  error(text, level + 1)
end

function M.eq(want, got)
  if not vim.deep_equal(want, got) then
    fail(('want %s\n got %s'):format(vim.inspect(want), vim.inspect(got)), 2)
  end
end

---@param pattern string a Lua pattern
---@param text string
function M.like(pattern, text)
  if type(text) ~= 'string' or not text:find(pattern) then
    fail(('want text like %q\n got %s'):format(pattern, vim.inspect(text)), 2)
  end
end

---Waits until the condition returns a true value, and returns it.
---@generic T
---@param what string description of the condition, for the failure message
---@param condition fun(): T?
---@return T
function M.wait(what, condition)
  local got
  local ok, err = vim.wait(tonumber(vim.env.XCSH_TEST_WAIT) or 20000, function()
    got = condition()
    return got ~= nil and got ~= false
  end, 5)
  if not ok then
    fail(('waited in vain for %s (%s)'):format(what, tostring(err)), 2)
  end
  return got
end

local function say(...)
  io.stdout:write(table.concat({ ... }, ' '), '\n')
  io.stdout:flush()
end

---@param file string
function M.main(file)
  local harness = require('harness')
  local number = tonumber(vim.env.XCSH_TEST_FIRST) or 1
  local failed = false
  local loaded, problem = xpcall(dofile, debug.traceback, file)
  if not loaded then
    say('not ok', number, file)
    say(problem)
    failed = true
  end
  for _, case in ipairs(cases) do
    harness.before()
    local ok, err = xpcall(case.body, debug.traceback)
    local clean, left = xpcall(harness.after, debug.traceback)
    if ok and clean then
      say('ok', number, case.name)
    else
      failed = true
      say('not ok', number, case.name)
      say((tostring(not ok and err or left):gsub('^', '  '):gsub('\n', '\n  ')))
      say((('notified: ' .. vim.inspect(harness.notified)):gsub('^', '  '):gsub('\n', '\n  ')))
    end
    number = number + 1
  end
  say('# done')
  vim.cmd(failed and 'cquit' or 'qall!')
end

return M
