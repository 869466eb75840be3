"""What a person is shown of a task: facts by name, and a picture in text."""

from urex.views import binary_search as binary_search
from urex.views import tape as tape
from urex.views.trace import draw_trace as draw_trace
from urex.views.view import Frame as Frame
from urex.views.view import draw as draw
from urex.views.view import instance_facts as instance_facts
from urex.views.view import picture as picture
from urex.views.view import state_facts as state_facts
