-- Runs commands from the command line on the server and shows their results. The commands come from
-- commands_gen.lua; this file knows only their names.

local client = require('xcsh.client')
local inputs = require('xcsh.inputs')
local intents = require('xcsh.intent')
local view = require('xcsh.view')

local M = {}

---@type table<string, xcsh.Command>
local specs = {}
local names = {} ---@type string[] without the prefix, in the table's order
for _, spec in ipairs(require('xcsh.commands_gen')) do
  specs[spec.name] = spec
  names[#names + 1] = spec.name:gsub('^xcsh%.', '')
end

---Commands that can take as long as a model or another program.
---@type table<string, boolean>
local turns = { ['xcsh.prompt'] = true, ['xcsh.bash'] = true, ['xcsh.compact'] = true }

---The arguments that "!" adds. For xcsh.dump, it affects only the editor.
---@type table<string, table<string, any>>
local bangs = {
  ['xcsh.resume'] = { scope = 'all' },
  ['xcsh.list'] = { scope = 'all' },
  ['xcsh.export'] = { overwrite = true },
  ['xcsh.dump'] = {},
}

---The arguments that limit a long result to its first page, unless the user gives others.
---@type table<string, table<string, any>>
local first_pages = {
  ['xcsh.list'] = { limit = 100 },
  ['xcsh.tree'] = { limit = 1000 },
  ['xcsh.entries'] = { limit = 100 },
  ['xcsh.context'] = { maxBytes = 1024 * 1024 },
  ['xcsh.snapshot'] = { last = 100 },
}

---Commands that the plugin shows in its own way, unless the user gives arguments by name.
---@type table<string, fun(text: string, cwd?: string)>
local own = {
  ['xcsh.changes'] = function(text, cwd)
    require('xcsh.changes').list(text, cwd)
  end,
  ['xcsh.rewind'] = function(text, cwd)
    require('xcsh.rewind').start(text, cwd)
  end,
  ['xcsh.keep'] = function(_, cwd)
    require('xcsh.changes.decide').choose(cwd)
  end,
  ['xcsh.redo'] = function(_, cwd)
    require('xcsh.rewind').redo(cwd)
  end,
  ['xcsh.team.share'] = function(text, cwd)
    require('xcsh.team.share').start(text, cwd)
  end,
}

---@param name string
---@return xcsh.Command
function M.spec(name)
  return assert(specs[name])
end

---@param name string
---@param args table<string, any>
local function paged(name, args)
  local limited = args.limit or args.maxBytes or args.last
  return limited and args or vim.tbl_extend('keep', args, first_pages[name] or {})
end

---Runs a command, asks for missing arguments, and shows the result.
---@param name string
---@param args table<string, any>
---@param bang? boolean
---@param done? fun(result: any, idle: boolean) called after success, and whether the user waited
function M.run(name, args, bang, done)
  local spec = specs[name]
  if not spec then
    return view.error({ message = ('Unknown command: %s'):format(name) })
  end
  -- The current directory may change before the last answer arrives.
  args = vim.tbl_extend('keep', paged(name, args), { cwd = require('xcsh.config').root() })

  local function call()
    local intent = intents.begin(turns[name])
    client.execute(name, args, function(err, result)
      intent:finish()
      local question = err and M.question(spec, args, err)
      if question then
        intent:show(args.cwd, spec.title, function()
          M.ask(question, call)
        end)
      elseif err and require('xcsh.ways').lacks(err) then
        require('xcsh.ways').offer({
          cwd = args.cwd,
          message = err.message,
          done = function(ready)
            if ready then
              return call()
            end
            view.prompt(args.text, args.cwd)
          end,
        }, intent)
      elseif err then
        view.error(err)
        if name == 'xcsh.prompt' then
          require('xcsh.choices').after_error(args.cwd, err)
        end
      else
        local idle = intent:idle()
        require('xcsh.results').show(name, result, bang or false, args.cwd, intent, args)
        if done then
          done(result, idle)
        end
      end
    end)
  end
  -- The server's own question would come with all sessions; the list requests a page.
  if spec.input == 'session' and args[spec.arg] == nil then
    local question = { spec = spec, args = args }
    return M.ask({ field = spec.arg, input = 'session', question = question }, call)
  end
  call()
end

---Returns the missing argument to ask for before the command can run, if the error requests one.
---@param spec xcsh.Command
---@param args table<string, any>
---@param err xcsh.Error
---@return { field: string, input: xcsh.Input, question: xcsh.Question }?
function M.question(spec, args, err)
  local data = type(err.data) == 'table' and err.data or {}
  local field = type(data.field) == 'string' and data.field or spec.arg
  if data.kind == 'argumentNeeded' and field == 'fork' and args.fork == nil then
    local question = { spec = spec, args = args, text = err.message }
    return { field = field, input = 'fork', question = question }
  end
  if data.kind == 'argumentNeeded' and args[field] == nil then
    local input = type(data.input) == 'string' and data.input or spec.input
    local choices = type(data.choices) == 'table' and data.choices or nil
    return {
      field = field,
      input = input,
      question = { spec = spec, args = args, choices = choices },
    }
  end
  -- Several sessions have this name.
  if data.kind == 'ambiguous' and type(data.candidates) == 'table' then
    local question = { spec = spec, args = args, choices = data.candidates }
    return { field = args.target and 'target' or 'source', input = 'session', question = question }
  end
end

---Asks, and continues after an answer.
---@param what { field: string, input: xcsh.Input, question: xcsh.Question }
---@param go_on fun()
function M.ask(what, go_on)
  inputs.ask(what.input, what.question, function(problem, value)
    if problem then
      return view.error(problem)
    end
    if value == nil then
      return view.notify(inputs.cancelled[what.input])
    end
    what.question.args[what.field] = value
    go_on()
  end)
end

---Arguments that can be a path.
local paths = { path = true, source = true, target = true }

---@param spec xcsh.Command
---@param text string
---@return string
local function argument(spec, text)
  if not paths[spec.arg] then
    return text
  end
  -- Paths are typed as for :edit, with or without a backslash before a space.
  if vim.fn.has('win32') == 0 then
    text = text:gsub('\\ ', ' ')
  end
  return (text:gsub('^~/', vim.fn.expand('~'):gsub('%%', '%%%%') .. '/'))
end

---@param name string
---@param text string everything after the command
---@param bang boolean
local function run_with_text(name, text, bang)
  local spec = specs[name]
  if bang and not bangs[name] then
    return view.error({ message = ('%s does not accept "!".'):format(name) })
  end
  if name == 'xcsh.setKey' then
    return require('xcsh.ways').set_key(text)
  end
  if own[name] then
    return own[name](text)
  end
  local args = bang and vim.deepcopy(bangs[name]) or {}
  if text ~= '' then
    if spec.arg == '' then
      return view.error({ message = ('%s does not accept an argument.'):format(name) })
    end
    args[spec.arg] = argument(spec, text)
  end
  M.run(name, args, bang)
end

---Runs :XcshResume and similar commands: the rest of the line is the command's main argument.
---@param name string
---@param opts { args: string, bang: boolean }
function M.named(name, opts)
  if not specs[name] then
    return view.error({ message = ('Unknown command: %s'):format(name) })
  end
  run_with_text(name, vim.trim(opts.args), opts.bang)
end

---Parses "key=text" and "key:=JSON", so that types need not be guessed.
---@param words string[]
---@return table<string, any>? args nil when a word is neither
---@return string? problem
local function pairs_of(words)
  local args = {}
  for _, word in ipairs(words) do
    local key, colon, value = word:match('^(%a%w*)(:?)=(.*)$')
    if not key then
      return nil
    end
    if colon == ':' then
      local ok, decoded = pcall(vim.json.decode, value)
      if not ok then
        return nil, ('The value of "%s" is not valid JSON.'):format(key)
      end
      value = decoded
    end
    args[key] = value
  end
  return args
end

---Lets the user select a command, and runs it.
---@param cwd string
function M.pick(cwd)
  local palette = vim.tbl_filter(function(spec)
    return spec.palette
  end, require('xcsh.commands_gen'))
  require('xcsh.pickers.select').choose(palette, {
    prompt = 'xcsh',
    kind = 'xcsh.command',
    format_item = function(spec)
      return spec.title
    end,
  }, function(spec)
    if spec and own[spec.name] then
      own[spec.name]('', cwd)
    elseif spec then
      M.run(spec.name, { cwd = cwd })
    end
  end)
end

---:Xcsh [{command} [{json} | {key}={text} … | {argument}]]
---@param opts { args: string, fargs: string[], bang: boolean }
function M.generic(opts)
  if #opts.fargs == 0 then
    return require('xcsh.start').open()
  end
  local name = 'xcsh.' .. opts.fargs[1]:gsub('^xcsh%.', '')
  if name == 'xcsh.redo' then
    return own[name]('')
  elseif not specs[name] then
    return view.error({ message = ('Unknown command: %s'):format(opts.fargs[1]) })
  end
  local rest = vim.trim(opts.args:sub(#opts.args:match('^%s*%S+') + 1))
  if name == 'xcsh.setKey' and rest:find('key["\':=%s]') then
    return require('xcsh.secret').refuse_typed()
  elseif vim.startswith(rest, '{') then
    local ok, args = pcall(vim.json.decode, rest)
    if not ok then
      return view.error({ message = 'The argument is not a valid JSON object.' })
    end
    return M.run(name, args, opts.bang)
  end
  local args, problem = pairs_of(vim.list_slice(opts.fargs, 2))
  if problem then
    view.error({ message = problem })
  elseif args and next(args) then
    M.run(name, args, opts.bang)
  else
    run_with_text(name, rest, opts.bang)
  end
end

---:[range]XcshChat[!] [{text}]: sends the text to the model immediately, with the lines.
---@param opts { args: string, bang: boolean, range: integer, line1: integer, line2: integer }
function M.chat(opts)
  local chats = require('xcsh.chat')
  local said = vim.trim(opts.args)
  if opts.bang then
    if said ~= '' then
      return view.error({ message = ':XcshChat! does not accept an argument.' })
    end
    return chats.toggle()
  end
  local input = require('xcsh.chat.input')
  local lines = opts.range > 0 and input.lines(opts.line1, opts.line2)
  local chat = chats.open()
  if lines then
    input.attach(chat, lines)
  end
  if said ~= '' then
    input.say(chat, said, 'steer')
  end
end

---:[range]XcshInline [{instruction}]
---@param opts { args: string, range: integer, line1: integer, line2: integer }
function M.inline(opts)
  local instruction = vim.trim(opts.args)
  require('xcsh.inline').start({
    instruction = instruction ~= '' and instruction or nil,
    first = opts.range > 0 and opts.line1 or nil,
    last = opts.range > 0 and opts.line2 or nil,
  })
end

---Completes the main argument of a command.
---@param name string
---@param lead string the last word; a completion replaces only that
---@param line string
---@param pos integer
---@return string[]
function M.complete_argument(name, lead, line, pos)
  local spec = specs[name]
  if not spec or spec.arg == '' then
    return {}
  end
  -- The argument can contain spaces, so it may have started before the last word.
  local so_far = line:sub(1, pos):match('^.-%u%w*!?%s+(.*)$') or ''
  return require('xcsh.completion').values(name, spec.arg, so_far, lead)
end

---The arguments of commands of which more than the main one is completed.
---@type table<string, string[]>
local keys = {
  ['xcsh.approve'] = { 'id', 'decision', 'reason' },
  ['xcsh.answer'] = { 'id', 'value' },
  ['xcsh.fork'] = { 'source', 'entryId' },
}

---Returns the names of the arguments that are not given yet.
---@param spec xcsh.Command
---@param given string[] complete words
---@param lead string
---@return string[]
function M.keys(spec, given, lead)
  local main = { spec.arg ~= '' and spec.arg or nil }
  local left = vim.tbl_filter(function(key)
    return not vim.iter(given):any(function(word)
      return vim.startswith(word, key .. '=')
    end)
  end, keys[spec.name] or (#given == 0 and main or {}))
  return require('xcsh.completion').starting_with(
    vim.tbl_map(function(key)
      return key .. '='
    end, left),
    lead
  )
end

---Completion of :Xcsh.
---@param lead string
---@param line string
---@param pos integer
---@return string[]
function M.complete(lead, line, pos)
  local words = vim.split(line:sub(1, pos), '%s+', { trimempty = true })
  local before = #words - (lead == '' and 0 or 1) -- complete words, :Xcsh itself included
  if before == 1 then
    return require('xcsh.completion').starting_with(names, lead)
  end
  local name = 'xcsh.' .. words[2]:gsub('^xcsh%.', '')
  local spec = specs[name]
  local key, value = lead:match('^(%a%w*)=(.*)$')
  if spec and key then
    return vim.tbl_map(function(found)
      return key .. '=' .. found
    end, require('xcsh.completion').values(name, key, value, value))
  elseif spec then
    return M.keys(spec, vim.list_slice(words, 3, before), lead)
  end
  return {}
end

return M
