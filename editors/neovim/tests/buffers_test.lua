-- Buffers and files are equal around commands: the agent's edits are saved before one, and files
-- that one has changed are reloaded.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

---@param id string
---@param name string
---@param args table
local function call(id, name, args)
  return { text = 'So.', calls = { { id = id, name = name, args = args } } }
end

---@param from string
---@param to string
local function edits(from, to)
  return call(from, 'edit', { path = 'a.txt', edits = { { oldText = from, newText = to } } })
end

---@param command string
local function runs(command)
  return call(command, 'bash', { command = command })
end

---Opens a file of the folder.
---@param name string
---@param lines string[]
---@return string path, integer bufnr
local function open(name, lines)
  local path = harness.folder('work') .. '/' .. name
  vim.fn.writefile(lines, path)
  vim.cmd.edit(path)
  return path, vim.api.nvim_get_current_buf()
end

---@param bufnr integer
local function lines_of(bufnr)
  return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
end

---Sends a prompt and waits for the end of the turn.
---@param meanwhile? fun()
local function prompt(meanwhile)
  local done = false
  require('xcsh.client').execute(
    'xcsh.prompt',
    { cwd = vim.fn.getcwd(), text = 'go' },
    function(err)
      eq(nil, err)
      done = true
    end
  )
  if meanwhile then
    meanwhile()
  end
  wait('the end of the turn', function()
    return done
  end)
end

---The output that the model received last.
---@param service Service
local function result(service)
  local messages = service.requests[#service.requests].messages
  return messages[#messages].content
end

case("a command sees the agent's edits, which are saved", function()
  local service = harness.model({
    edits('two', 'zwei'),
    runs('cat a.txt'),
    { text = 'Done.' },
  }, { approval = 'yolo' })
  local path, bufnr = open('a.txt', { 'one', 'two' })
  prompt()
  like('one\nzwei', result(service))
  eq({ 'one', 'zwei' }, vim.fn.readfile(path))
  eq({ { 'one', 'zwei' }, false }, { lines_of(bufnr), vim.bo[bufnr].modified })
  vim.cmd('silent undo')
  eq({ 'one', 'two' }, lines_of(bufnr))
end)

case("the user's unsaved changes are saved only with the user's consent", function()
  local service = harness.model({
    edits('two', 'zwei'),
    runs('cat a.txt'),
    runs('cat ./a.txt'),
    { text = 'Done.' },
  }, { approval = 'yolo' })
  local path, bufnr = open('a.txt', { 'one', 'two' })
  vim.api.nvim_buf_set_lines(bufnr, 0, 1, false, { 'mine' })
  prompt(function()
    harness.answer("Don't Save")
    wait('the question', function()
      return require('xcsh.waiting').count(vim.fn.getcwd()) == 1
    end)
    vim.cmd('XcshReview')
  end)
  like('one\ntwo', result(service))
  like('Unsaved changes in the editor were not seen: a%.txt', result(service))
  eq({ 'one', 'two' }, vim.fn.readfile(path))
  eq({ { 'mine', 'zwei' }, true }, { lines_of(bufnr), vim.bo[bufnr].modified })
  eq(1, #harness.asked)
  like("Save a%.txt before the agent's command runs%?", harness.asked[1].prompt)
end)

case('files that a command changed are reloaded, but not over changes of the user', function()
  local command = "printf 'new\\n' | tee a.txt > b.txt"
  harness.model({ runs(command), { text = 'Done.' } }, { approval = 'yolo' })
  local _, a = open('a.txt', { 'old' })
  local _, b = open('b.txt', { 'old' })
  vim.api.nvim_buf_set_lines(b, 0, -1, false, { 'mine' })
  prompt()
  wait('the new text', function()
    return lines_of(a)[1] == 'new'
  end)
  eq({ { 'mine' }, true }, { lines_of(b), vim.bo[b].modified })
end)
